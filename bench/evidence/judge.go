package evidence

import (
	"strings"
	"unicode/utf8"
)

// Judge tells what a context shows of one conversation, by the rules of the scorer.
type Judge struct{ words words }

// NewJudge counts the conversation's words, so that the distinctive ones are known.
func NewJudge(c Conversation) Judge { return Judge{countWords(c)} }

// Shows reports whether a message's text stands in a context: the whole of a short one, of a long one the part that bears the answer.
func (j Judge) Shows(q Question, text, context string) bool {
	return there(fold(text), set(stems(q.Question+" "+q.Answer)), j.words, views(context))
}

// Answer is the share of the answer's distinctive words and numbers that stand in a context; ok is false when it has none. Unlike the
// scorer it finds Chinese words wherever they begin.
func (j Judge) Answer(q Question, context string) (share float64, ok bool) {
	readings := views(context)
	said := set(stems(strings.Join(readings, " ")))
	wanted := distinctive(q, j.words)
	for _, word := range wanted {
		if said[word] || word[0] >= utf8.RuneSelf && strings.Contains(readings[0], word) {
			share++
		}
	}
	return share / float64(max(1, len(wanted))), len(wanted) > 0
}

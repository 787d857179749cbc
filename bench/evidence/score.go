package evidence

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The rule: a message of up to 600 characters is there when the whole of it stands in the context; of a longer one it is the 300
// characters that carry the answer, of which 200 in a row suffice. Both sides are compared with white space folded; of the context the
// readings with one and two levels of JSON escapes undone count too.
const (
	longText = 600
	window   = 300
	enough   = 200
)

// outcome is what one question came to.
type outcome struct {
	recall, words, at10 float64
	answered            bool // the answer has telling words
	over                bool // the context was over the budget: it counts as nothing
}

// score judges what was shown for a question with evidence.
func (p *player) score(q Question, budget int, a answer) (o outcome) {
	if len(q.Evidence) == 0 {
		return o
	}
	if o.over = a.tokens() > budget; !o.over {
		readings := views(a.context + "\n" + a.before)
		o.recall = recalled(q, p.texts, p.words, readings)
		o.words, o.answered = answerWords(q, p.words, readings)
	}
	first := a.ranked[:min(10, len(a.ranked))]
	for _, e := range q.Evidence {
		if slices.Contains(first, e) {
			o.at10 += 1 / float64(len(q.Evidence))
		}
	}
	return o
}

// words counts in how many of a conversation's messages each word stands.
type words struct {
	in map[string]int
	n  int
}

// weight is what a word tells.
func (w words) weight(word string) float64 {
	return math.Log(float64(w.n+1) / (float64(w.in[word]) + 0.5))
}

func countWords(c Conversation) words {
	w := words{in: map[string]int{}}
	for _, s := range c.Sessions {
		for _, m := range s.Messages {
			w.n++
			for word := range set(stems(m.Text)) {
				w.in[word]++
			}
		}
	}
	return w
}

var wordPattern = regexp.MustCompile(`[a-z0-9]+|[\x{4e00}-\x{9fff}]{2}|[\x{4e00}-\x{9fff}]`)

func stems(s string) []string {
	list := wordPattern.FindAllString(strings.ToLower(s), -1)
	for i, w := range list {
		if len(w) > 3 && strings.HasSuffix(w, "s") {
			list[i] = w[:len(w)-1]
		}
	}
	return list
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// views are the readings of a context.
func views(context string) []string {
	out := []string{fold(context)}
	for range 2 {
		context = unescape(context)
		if f := fold(context); f != out[len(out)-1] {
			out = append(out, f)
		}
	}
	return out
}

var escape = regexp.MustCompile(`(?s)\\(?:u([0-9a-fA-F]{4})|(.))`)

func unescape(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		if len(e) == 6 && e[1] == 'u' {
			var r rune
			for _, c := range strings.ToLower(e[2:]) {
				r = r*16 + rune(strings.IndexRune("0123456789abcdef", c))
			}
			return string(r)
		}
		if strings.ContainsRune("ntrbf", rune(e[1])) {
			return " "
		}
		return e[1:]
	})
}

// recalled is the share of the evidence that stands in the context.
func recalled(q Question, texts map[string]string, w words, readings []string) float64 {
	sum := 0.0
	wanted := wantedWords(q)
	for _, id := range q.Evidence {
		if there(fold(texts[id]), wanted, w, readings) {
			sum++
		}
	}
	return sum / float64(len(q.Evidence))
}

func wantedWords(q Question) map[string]bool { return set(stems(q.Question + " " + q.Answer)) }

func there(text string, wanted map[string]bool, w words, readings []string) bool {
	runes := []rune(text)
	if len(runes) <= longText {
		return slices.ContainsFunc(readings, func(r string) bool { return strings.Contains(r, text) })
	}
	at := support(runes, wanted, w)
	part := runes[at:min(len(runes), at+window)]
	for i := 0; i+enough <= len(part)+1 && i+enough <= len(part); i += 20 {
		piece := string(part[i : i+enough])
		if slices.ContainsFunc(readings, func(r string) bool { return strings.Contains(r, piece) }) {
			return true
		}
	}
	return false
}

// support is the start of the window that holds most of the wanted words, rare ones counting more.
func support(text []rune, wanted map[string]bool, w words) (at int) {
	best := -1.0
	for i := 0; i < max(1, len(text)-window+1); i += 25 {
		sum := 0.0
		for word := range set(stems(string(text[i:min(len(text), i+window)]))) {
			if wanted[word] {
				sum += w.weight(word)
			}
		}
		if sum > best+1e-9 {
			best, at = sum, i
		}
	}
	return at
}

// answerWords is the share of the answer's distinctive words and numbers that stand in the context; ok is false when it has none.
func answerWords(q Question, w words, readings []string) (share float64, ok bool) {
	said := set(stems(strings.Join(readings, " ")))
	wanted := distinctive(q, w)
	for _, word := range wanted {
		if said[word] {
			share++
		}
	}
	return share / float64(max(1, len(wanted))), len(wanted) > 0
}

// distinctive are the words of an answer that few messages hold, and its numbers.
func distinctive(q Question, w words) (list []string) {
	for word := range set(stems(q.Answer)) {
		number := strings.Trim(word, "0123456789") == ""
		if utf8.RuneCountInString(word) < 2 || !number && float64(w.in[word]) > math.Max(3, 0.02*float64(w.n)) {
			continue
		}
		list = append(list, word)
	}
	return list
}

package evidence

// Judge tells how much of what answers a question stands in a context, for callers with a conversation of their own.
type Judge struct {
	texts []string
	words words
}

// NewJudge knows the texts of a conversation's messages, by their index.
func NewJudge(texts []string) *Judge {
	c := Conversation{Sessions: []Session{{}}}
	for _, t := range texts {
		c.Sessions[0].Messages = append(c.Sessions[0].Messages, Message{Text: t})
	}
	return &Judge{texts: texts, words: countWords(c)}
}

// Held is the share of the source messages that stand in a context, and of the answer's telling words.
func (j *Judge) Held(question, answer string, sources []int, context string) (evidence, said float64) {
	readings := views(context)
	q := Question{Question: question, Answer: answer}
	wanted := set(stems(question + " " + answer))
	for _, i := range sources {
		if there(fold(j.texts[i]), wanted, j.words, readings) {
			evidence += 1 / float64(len(sources))
		}
	}
	said, _ = answerWords(q, j.words, readings)
	return evidence, said
}

package evidence

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestScore: the rule of the data's README. A short message counts as a whole, a long one by the part that carries the answer, and JSON
// escapes do not hide it.
func TestScore(t *testing.T) {
	t.Parallel()
	filler := func(from int) (text string) {
		for i := from; i < from+12; i++ {
			text += fmt.Sprintf("On day %d the weather by the lake was mild and we talked about this and that. ", i)
		}
		return text
	}
	long := filler(1) + "The spare key of the boathouse hangs behind the barometer in the hall, on the second hook from the left side. " + filler(50)
	c := Conversation{Sessions: []Session{{Messages: []Message{{ID: "s", Text: "My  parrot\nis Polly."}, {ID: "l", Text: long}}}}}
	texts := map[string]string{"s": c.Sessions[0].Messages[0].Text, "l": long}
	w := countWords(c)
	at := strings.Index(long, "The spare key")
	short := Question{Question: "What is the parrot called?", Answer: "Polly", Evidence: []string{"s"}}
	deep := Question{Question: "Where does the spare key of the boathouse hang?", Answer: "behind the barometer", Evidence: []string{"l"}}
	both := Question{Evidence: []string{"s", "l"}}
	for _, x := range []struct {
		name, context string
		q             Question
		want          float64
	}{
		{"whole", "[1] user: My parrot is Polly. More.", short, 1},
		{"cut", "My parrot is", short, 0},
		{"escaped", `{"items":["user: My  parrot\nis Polly."]}`, short, 1},
		{"escaped twice", `{\"items\":[\"user: My  parrot\\nis Polly.\"]}`, short, 1},
		{"the head of a long message", long[:400], deep, 0},
		{"the part that answers", long[at-150 : at+250], deep, 1},
		{"one of two", "My parrot is Polly.", both, 0.5},
	} {
		if got := recalled(x.q, texts, w, views(x.context)); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: %.2f, want %.2f", x.name, got, x.want)
		}
	}
	if share, ok := answerWords(short, w, views("called polly")); !ok || share != 1 {
		t.Errorf("answer words: %.2f, %v", share, ok)
	}
	if _, ok := answerWords(Question{Answer: "!"}, w, nil); ok {
		t.Error("an answer without words has a share")
	}
}

// TestExchanges: what answers a user's message goes with it.
func TestExchanges(t *testing.T) {
	t.Parallel()
	var list []Message
	for _, role := range []string{"assistant", "user", "user", "assistant", "assistant", "user"} {
		list = append(list, Message{Role: role})
	}
	var sizes []int
	for _, x := range exchanges(list) {
		sizes = append(sizes, len(x))
	}
	if len(sizes) != 3 || sizes[0] != 1 || sizes[1] != 4 || sizes[2] != 1 {
		t.Errorf("%v", sizes)
	}
}

package evidence

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skald-engine/skald/message"
)

// An item counts as marked when the mark stands before its words, in the JSON of a tool call and in plain lines alike; all that hold the old
// value have to be.
func TestMarked(t *testing.T) {
	t.Parallel()
	const old = "The ferry leaves at nine on Mondays."
	for context, want := range map[string][2]bool{
		`{"items":["user: The ferry leaves at nine on Mondays."]}`:                                                {true, false},
		`{"items":["[superseded] user: The ferry leaves at nine on Mondays."]}`:                                   {true, true},
		`{"items":["[superseded by turn 7] user: The ferry leaves at nine on Mondays.","user: It is ten."]}`:      {true, true},
		`{"items":["user: It is ten. [superseded]","user: The ferry leaves at nine on Mondays."]}`:                {true, false},
		`{"items":["user: The ferry leaves at nine on Mondays. [superseded]"]}`:                                   {true, false},
		"- [superseded] user: The ferry leaves at nine on Mondays.\n- user: The ferry leaves at nine on Mondays.": {true, false},
		"- [superseded] user: The ferry leaves at nine on Mondays.":                                               {true, true},
		"- [superseded] user: It is ten.":                                                                         {false, false},
	} {
		if shown, marked := holds(context, old, nil, words{}); shown != want[0] || marked != want[1] {
			t.Errorf("%s: %v, %v", context, shown, marked)
		}
	}
}

// The old value is the oldest evidence, the newest that which shares most with the answer, whatever the order in the file.
func TestValues(t *testing.T) {
	t.Parallel()
	p := &player{texts: map[string]string{"1": "we meet at nine", "2": "from now on at ten sharp", "3": "fine, noted"},
		order: map[string]int{"1": 0, "2": 1, "3": 2}, words: words{in: map[string]int{"ten": 1, "nine": 1}, n: 3}}
	if old, newest := p.values(Question{Answer: "at ten, formerly nine", Evidence: []string{"3", "2", "1"}}); old != "1" || newest != "2" {
		t.Errorf("%s, %s", old, newest)
	}
}

// The limit of the items follows from what is shown, and a context over the budget never stands for one within it.
func TestFitted(t *testing.T) {
	t.Parallel()
	asked := 0
	a, err := fitted(100, 200, func(_, limit int) (answer, error) {
		asked++
		return answer{limit: limit, context: strings.Repeat("word", limit)}, nil // a token each
	})
	if err != nil || a.tokens() > 100 || a.tokens() < 100-slack || asked > tries {
		t.Errorf("%d tokens after %d tries, %v", a.tokens(), asked, err)
	}
	asked = 0
	if _, err := fitted(100, 50, func(_, limit int) (answer, error) { asked++; return answer{bare: true}, nil }); err != nil || asked != 1 {
		t.Errorf("nothing recalled: asked %d times, %v", asked, err)
	}
}

// A sample is spread over the questions with evidence.
func TestSampled(t *testing.T) {
	t.Parallel()
	var list []Question
	for i := range 10 {
		q := Question{ID: string(rune('a' + i))}
		if i > 1 {
			q.Evidence = []string{"1"}
		}
		list = append(list, q)
	}
	if got := sampled(list, 4); len(got) != 4 || !got["c"] || !got["i"] || got["a"] {
		t.Errorf("%v", got)
	}
	if got := sampled(list, 0); len(got) != 8 {
		t.Errorf("%v", got)
	}
}

// What is injected now is told from the session's turns and from the recalls of earlier prompts.
func TestRead(t *testing.T) {
	t.Parallel()
	messages := injectedAround()
	var a answer
	a.read(messages)
	if a.bare || !strings.Contains(a.context, "new fact") || strings.Contains(a.context, "spoken") || strings.Contains(a.context, "old fact") ||
		!strings.Contains(a.context, "profile") || !strings.Contains(a.before, "old fact") {
		t.Errorf("%+v", a)
	}
	var b answer
	if b.read(messages[:1]); !b.bare || !strings.Contains(b.context, "profile") {
		t.Errorf("%+v", b)
	}
}

func injectedAround() []json.RawMessage {
	own := func(text string) json.RawMessage { return message.User(message.Mark+text, 1) }
	said := func(text string) json.RawMessage { return message.User(text, 1) }
	return []json.RawMessage{own("profile"), said("spoken first"), own("old fact"), own("Noted."), said("spoken last"), own("new fact"), own("Noted.")}
}

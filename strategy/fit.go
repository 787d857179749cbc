package strategy

import (
	"encoding/json"
	"fmt"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// fitInput is everything that competes for the budget.
type fitInput struct {
	head    []json.RawMessage
	list    []exchange
	recalls []skald.PlacedRecall
	budget  int // tokens
	keep    int // raw turns that stay
	uri     skald.SessionRef
}

// fitted is what stays. tokens never exceeds the budget (I6).
type fitted struct {
	head         []json.RawMessage
	list         []exchange
	recalls      []skald.PlacedRecall
	headTokens   int
	recallTokens int
	tokens       int
	cut          []string
}

func (f *fitted) note(format string, args ...any) {
	f.cut = append(f.cut, fmt.Sprintf(format, args...))
}

// fit lets things yield in the order of I6: recalls, old summaries, older raw turns at exchange boundaries, oversized tool results
// and then long texts of the newest turns, then turns from the oldest.
func fit(in fitInput) fitted {
	f := fitted{head: in.head, list: in.list, recalls: in.recalls}
	f.dropUnanchored()
	for _, step := range []func(*fitted, fitInput){dropRecalls, shortenHead, dropOlder, shortenTools, shortenTexts, dropHead, dropOldest} {
		f.measure()
		if f.tokens <= in.budget {
			break
		}
		step(&f, in)
	}
	f.measure()
	return f
}

func (f *fitted) measure() {
	messages, _ := render(*f, nil)
	f.tokens, f.headTokens, f.recallTokens = 0, 0, 0
	for _, m := range messages {
		f.tokens += message.Tokens(m)
	}
	for _, m := range f.head {
		f.headTokens += message.Tokens(m)
	}
	for _, r := range f.recalls {
		f.recallTokens += r.Tokens
	}
}

// dropUnanchored removes recalls that stand before the oldest turn in view: their prompt is not there any more.
func (f *fitted) dropUnanchored() {
	for len(f.recalls) > 0 && (len(f.list) == 0 || f.recalls[0].AfterSeq+1 < f.list[0].first()) {
		f.recalls = f.recalls[1:]
	}
}

func dropRecalls(f *fitted, in fitInput) {
	over := f.tokens - in.budget
	for over > 0 && len(f.recalls) > 0 {
		over -= f.recalls[0].Tokens
		f.recalls = f.recalls[1:]
		f.note("an earlier recall was dropped")
	}
}

func shortenHead(f *fitted, in fitInput) {
	if len(f.head) == 0 {
		return
	}
	room := max(f.headTokens-(f.tokens-in.budget), in.budget/10)
	if room >= f.headTokens {
		return
	}
	f.head = append([]json.RawMessage{message.Shorten(f.head[0], room, string(in.uri.URI()))}, f.head[1:]...)
	f.note("the summary was shortened to %d tokens", room)
}

func dropOlder(f *fitted, in fitInput) {
	over, dropped := f.tokens-in.budget, 0
	for over > 0 && len(f.list) > 1 && countTurns(f.list[1:]) >= in.keep {
		over -= f.list[0].tokens
		dropped += len(f.list[0].turns)
		f.list = f.list[1:]
	}
	if dropped > 0 {
		f.note("%d older turns were left out", dropped)
		f.dropUnanchored()
	}
}

// smallest sizes, in tokens, that a shortened message keeps.
const (
	smallTool = 120
	smallText = 200
)

func shortenTools(f *fitted, in fitInput) { f.shorten(in, skald.RoleTool, smallTool) }

func shortenTexts(f *fitted, in fitInput) {
	f.shorten(in, skald.RoleAssistant, smallText)
	if f.measure(); f.tokens > in.budget {
		f.shorten(in, skald.RoleUser, smallText)
	}
}

// shorten cuts the longest messages of a role, the longest first, down to least tokens each, until the whole fits.
func (f *fitted) shorten(in fitInput, role skald.Role, least int) {
	over := f.tokens - in.budget
	f.list = cloneList(f.list)
	for over > 0 {
		t := longest(f.list, role, least)
		if t == nil {
			return
		}
		want := max(least, t.tokens-over)
		short := message.Shorten(t.raw, want, string(in.uri.TurnsURI(t.seq, t.seq)))
		tokens := message.Tokens(short)
		if tokens >= t.tokens {
			t.tokens = least // cannot be cut: not tried again
			continue
		}
		over -= t.tokens - tokens
		f.note("turn %d was shortened from %d to %d tokens", t.seq, t.tokens, tokens)
		t.raw, t.tokens = short, tokens
	}
}

func longest(list []exchange, role skald.Role, least int) *shown {
	var best *shown
	for i := range list {
		for j := range list[i].turns {
			t := &list[i].turns[j]
			if t.msg.SkaldRole() == role && t.tokens > least+20 && (best == nil || t.tokens > best.tokens) {
				best = t
			}
		}
	}
	return best
}

func cloneList(list []exchange) []exchange {
	out := make([]exchange, len(list))
	for i, x := range list {
		out[i] = exchange{turns: append([]shown{}, x.turns...), tokens: x.tokens}
	}
	return out
}

func dropHead(f *fitted, _ fitInput) {
	if len(f.head) > 0 {
		f.head = nil
		f.note("the summary was left out")
	}
}

// dropOldest removes exchanges, then steps within the last one, from the oldest.
func dropOldest(f *fitted, in fitInput) {
	for f.tokens > in.budget && len(f.list) > 0 {
		if len(f.list) > 1 {
			f.note("turns %d to %d were left out", f.list[0].first(), f.list[0].last())
			f.list = f.list[1:]
		} else if x := cloneList(f.list)[0]; len(x.turns) > 1 {
			f.note("turn %d was left out", x.turns[0].seq)
			x.turns = x.turns[1:]
			f.list = []exchange{x}
		} else {
			f.note("turn %d was left out", x.turns[0].seq)
			f.list = nil
		}
		f.dropUnanchored()
		f.measure()
	}
}

// openLine stands first when the oldest turn in view is not a user's: providers want a user to begin.
const openLine = "[skald] The conversation so far, from here on:"

// render lays the messages out: head, raw turns with recalls where they stand, the recall for the prompt; calls paired.
func render(f fitted, current *skald.PlacedRecall) ([]json.RawMessage, int) {
	var messages []json.RawMessage
	messages = append(messages, f.head...)
	recalls := f.recalls
	for _, x := range f.list {
		for _, t := range x.turns {
			for len(recalls) > 0 && recalls[0].AfterSeq < t.seq {
				messages = appendRaw(messages, recalls[0].Messages)
				recalls = recalls[1:]
			}
			if len(messages) == 0 && t.msg.SkaldRole() != skald.RoleUser {
				messages = append(messages, message.User(openLine, 0))
			}
			messages = append(messages, t.raw)
		}
	}
	if current != nil {
		messages = appendRaw(messages, current.Messages)
	}
	messages = message.FixPairs(messages)
	tokens := 0
	for _, m := range messages {
		tokens += message.Tokens(m)
	}
	return messages, tokens
}

func appendRaw(list []json.RawMessage, raws [][]byte) []json.RawMessage {
	for _, raw := range raws {
		list = append(list, raw)
	}
	return list
}

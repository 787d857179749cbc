package strategy

import (
	"encoding/json"
	"fmt"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Sizes, in tokens, that a shortened message keeps.
const (
	smallTool = 120
	smallText = 200
)

func shortenTools(f *fitted, in fitInput) {
	f.shorten(in, smallTool, cut, skald.RoleTool)
}

func shortenTexts(f *fitted, in fitInput) {
	f.shorten(in, smallText, cut, skald.RoleAssistant)
	if f.measure(); f.tokens > in.budget { // the host's own roles hold their texts where only a stub reaches
		f.shorten(in, smallText, stub, skald.RoleSystem)
	}
	if f.measure(); f.tokens > in.budget {
		f.shorten(in, smallText, cut, skald.RoleUser)
	}
}

// stubLong replaces what could not be cut, such as arguments of many parts or blocks that only the host knows, by the text that
// people would read of it.
func stubLong(f *fitted, in fitInput) {
	f.shorten(in, smallText, stub, skald.RoleTool, skald.RoleAssistant, skald.RoleSystem, skald.RoleUser)
}

// cutter makes a turn that has at most want tokens, if it can.
type cutter func(t shown, want int, uri string) json.RawMessage

func cut(t shown, want int, uri string) json.RawMessage { return message.Shorten(t.raw, want, uri) }

// shorten cuts the longest messages of some roles, the longest first, down to least tokens each, until the whole fits. What a message
// saves by itself may count for nothing, such as a result without its call: so the whole is measured again.
func (f *fitted) shorten(in fitInput, least int, how cutter, roles ...skald.Role) {
	f.list = cloneList(f.list)
	done := map[int64]bool{}
	for f.tokens > in.budget && f.shortenBy(f.tokens-in.budget, in, least, how, done, roles) {
		f.measure()
	}
}

// shortenBy cuts as much as is over, and reports whether anything was cut. done are the turns that are as short as they get.
func (f *fitted) shortenBy(over int, in fitInput, least int, how cutter, done map[int64]bool, roles []skald.Role) (cut bool) {
	for over > 0 {
		x, t := f.longest(least, done, roles)
		if t == nil {
			return cut
		}
		want := max(least, t.tokens-over)
		short := made(how(*t, want, in.turnURI(t.seq)))
		saved := t.tokens - short.tokens
		done[t.seq] = short.tokens > want || saved <= 0
		if saved > 0 && short.msg != nil {
			f.note("turn %d was shortened from %d to %d tokens", t.seq, t.tokens, short.tokens)
			short.seq = t.seq
			*t, over, x.tokens, cut = short, over-saved, x.tokens-saved, true
		}
	}
	return cut
}

func (f *fitted) longest(least int, tried map[int64]bool, roles []skald.Role) (in *exchange, best *shown) {
	for i := range f.list {
		for j := range f.list[i].turns {
			t := &f.list[i].turns[j]
			if t.tokens > least+20 && !tried[t.seq] && (best == nil || t.tokens > best.tokens) && ofRole(t.msg, roles) {
				in, best = &f.list[i], t
			}
		}
	}
	return in, best
}

func ofRole(m *message.Message, roles []skald.Role) bool {
	for _, r := range roles {
		if m.SkaldRole() == r {
			return true
		}
	}
	return false
}

func cloneList(list []exchange) []exchange {
	out := make([]exchange, len(list))
	for i, x := range list {
		out[i] = exchange{turns: append([]shown{}, x.turns...), tokens: x.tokens}
	}
	return out
}

// stub stands for a message: its role and ids, and head and tail of its text.
func stub(t shown, want int, uri string) (short json.RawMessage) {
	for room, try := want, 0; try < 8; try++ {
		short = stubOf(t, room, uri)
		over := message.Tokens(short) - want
		if over <= 0 {
			break
		}
		room -= max(over+over/4, room/4*min(try, 1)) // escapes take more than they count
	}
	return short
}

func stubOf(t shown, want int, uri string) json.RawMessage {
	ts := max(1, t.msg.Timestamp.UnixMilli())
	text := func(calls int) string { return message.HeadTail(t.msg.Text(), max(20, want-90-40*calls), uri) }
	switch t.msg.SkaldRole() {
	case skald.RoleTool:
		return message.ToolResult(t.msg.ToolCallID, t.msg.ToolName, text(0), ts)
	case skald.RoleAssistant:
		return stubCalls(t, text, uri, ts)
	case skald.RoleUser:
		return message.User(text(0), ts)
	}
	return message.User(fmt.Sprintf("[%s] %s", t.msg.Role, text(0)), ts)
}

// stubCalls keeps the calls, so that their results stay with them, without their arguments.
func stubCalls(t shown, text func(int) string, uri string, ts int64) json.RawMessage {
	calls := t.msg.ToolCalls()
	if len(calls) == 0 {
		return message.Assistant(text(0), ts)
	}
	content := []any{}
	for _, c := range calls {
		content = append(content, map[string]any{"type": "toolCall", "id": c.ID, "name": c.Name,
			"arguments": map[string]string{"omitted": uri}})
	}
	raw, err := json.Marshal(map[string]any{"role": message.RoleAssistant, "content": content, "api": t.msg.API, "provider": t.msg.Provider,
		"model": t.msg.Model, "stopReason": "toolUse", "timestamp": ts, "usage": map[string]int{"input": 0, "output": 0}})
	if err != nil {
		return t.raw
	}
	return raw
}

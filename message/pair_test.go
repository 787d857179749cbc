package message

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func raws(list ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, s := range list {
		out[i] = json.RawMessage(s)
	}
	return out
}

// digest writes a list as "U text", "A text calls", "R id text".
func digest(t testing.TB, list []json.RawMessage) []string {
	t.Helper()
	var out []string
	for _, raw := range list {
		m := mustParse(t, string(raw))
		var text, calls []string
		for _, b := range m.Blocks {
			switch b.Kind {
			case KindText:
				text = append(text, b.Text)
			case KindToolCall:
				calls = append(calls, b.ID)
			}
		}
		s := map[string]string{"user": "U", "assistant": "A", "toolResult": "R"}[m.Role]
		if m.Role == RoleToolResult {
			calls = []string{m.ToolCallID}
		}
		out = append(out, strings.Join(append(append([]string{s}, calls...), text...), " "))
	}
	return out
}

const (
	userHi   = `{"role":"user","content":"hi","timestamp":1}`
	missing1 = `{"role":"toolResult","toolCallId":"c1","toolName":"t","content":[{"type":"text","text":"[openclaw] missing tool result in session history; inserted"}],"isError":true}`
)

func call(ids ...string) string {
	var b []string
	for _, id := range ids {
		b = append(b, `{"type":"toolCall","id":"`+id+`","name":"t","arguments":{}}`)
	}
	return `{"role":"assistant","content":[` + strings.Join(b, ",") + `],"timestamp":2}`
}

func result(id, text string) string { return string(ToolResult(id, "t", text, 3)) }

func TestFixPairsCases(t *testing.T) {
	for name, c := range map[string]struct{ in, want []string }{
		"TP-03 real wins, out of order": {
			[]string{call("c1"), call("c2"), result("c2", "two"), missing1, result("c1", "one")},
			[]string{"A c1", "R c1 one", "A c2", "R c2 two"}},
		"TP-04 aborted call": {
			[]string{userHi, `{"role":"assistant","content":[{"type":"text","text":"wait"},{"type":"toolCall","id":"c9","name":"t"}],"stopReason":"aborted","timestamp":2}`, userHi},
			[]string{"U hi", "A c9 wait", "R c9 " + NoResult, "U hi"}},
		"TP-05 duplicate call": {
			[]string{call("c1", "c1"), result("c1", "one"), `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"c5","name":"t","arguments":{}}]}`},
			[]string{"A c1", "R c1 one", "A c5", "R c5 " + NoResult}},
		"TP-06 progress text": {
			[]string{call("c1"), `{"role":"assistant","content":"working on it..."}`, result("c1", "ok")},
			[]string{"A c1", "R c1 ok", "A working on it..."}},
		"TP-07 orphan mentioned in text": {
			[]string{`{"role":"user","content":"summary: call_q1 ran"}`, result("call_q1", "x")},
			[]string{"U summary: call_q1 ran"}},
		"ASM-02 blank content": {
			[]string{`{"role":"user","content":[]}`, `{"role":"assistant","content":[{"type":"text","text":""}]}`, call("c1"), `{"role":"toolResult","toolCallId":"c1","toolName":"t","content":null}`, userHi},
			[]string{"A c1", "R c1 " + NoOutput, "U hi"}},
		"id used again": {
			[]string{call("c_1"), result("c_1", "a"), userHi, call("c_1"), result("c_1", "b")},
			[]string{"A c_1", "R c_1 a", "U hi", "A c1x2", "R c1x2 b"}},
		"sanitised id": {
			[]string{call("call_44"), result("call44", "a")},
			[]string{"A call_44", "R call_44 a"}},
		"parallel, arrival order kept": {
			[]string{call("a", "b", "c"), result("c", "3"), result("a", "1")},
			[]string{"A a b c", "R c 3", "R a 1", "R b " + NoResult}},
		"TP-08 anthropic": {
			[]string{`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"t","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"},{"type":"text","text":"go on"}]}`},
			[]string{"A c1", "R c1 ok", "U go on"}},
	} {
		in := raws(c.in...)
		got := FixPairs(in)
		if diff := cmp.Diff(c.want, digest(t, got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if bad := CheckPairs(got); bad != nil {
			t.Errorf("%s: %v\n%s", name, bad, got)
		}
		if diff := cmp.Diff(got, FixPairs(got)); diff != "" {
			t.Errorf("%s: not stable: %s", name, diff)
		}
	}
}

// TP-08: the name is taken from the call when the result has none.
func TestFixPairsNamesResult(t *testing.T) {
	got := FixPairs(raws(call("c1"), `{"role":"tool","tool_call_id":"c1","content":"ok"}`))
	if m := mustParse(t, string(got[1])); m.ToolName != "t" {
		t.Errorf("%s", got[1])
	}
}

// TP-01: cut anywhere, every pair is whole.
func TestFixPairsEveryCut(t *testing.T) {
	var list []json.RawMessage
	for i := range 30 {
		id := fmt.Sprintf("call_%d", i)
		list = append(list, json.RawMessage(call(id)), json.RawMessage(result(id, "r")))
	}
	for i := range list {
		for _, part := range [][]json.RawMessage{list[i:], list[:i]} {
			if bad := CheckPairs(FixPairs(part)); bad != nil {
				t.Fatalf("cut %d: %v", i, bad)
			}
		}
	}
	if diff := cmp.Diff(list, FixPairs(list)); diff != "" {
		t.Error("a sound list changed", diff)
	}
}

// genExchange draws a user message and what answers it, sound or broken. Results never cross into another exchange.
func genExchange(t *rapid.T, n int) []json.RawMessage {
	ids := rapid.SampledFrom([]string{"a", "b_1", "b1", "c", "", "d-d"})
	list := raws(fmt.Sprintf(`{"role":"user","content":"u%d","timestamp":%d}`, n, n))
	for range rapid.IntRange(0, 6).Draw(t, "messages") {
		id := ids.Draw(t, "id")
		list = append(list, json.RawMessage(rapid.SampledFrom([]string{
			call(id), call(id, ids.Draw(t, "id2")), result(id, "r"), result(id, ""), missing1,
			`{"role":"assistant","content":"text"}`, `{"role":"assistant","content":[]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":[]}]}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"t"}],"stopReason":"error"}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","function":{"name":"t","arguments":"{"}}]}`,
			`{"role":"bashExecution","command":"ls","output":""}`, `{"role":"tool","tool_call_id":"` + id + `","content":"x"}`, `[]`,
		}).Draw(t, "message")))
	}
	return list
}

func TestFixPairsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []json.RawMessage
		var ends []int
		for n := range rapid.IntRange(1, 3).Draw(t, "exchanges") {
			list = append(list, genExchange(t, n)...)
			ends = append(ends, len(list))
		}
		for i := range len(list) + 1 {
			for _, part := range [][]json.RawMessage{list[:i], list[i:]} {
				got := FixPairs(part)
				if bad := CheckPairs(got); bad != nil {
					t.Fatalf("cut %d: %v\nin  %s\nout %s", i, bad, part, got)
				}
				if again := FixPairs(got); !cmp.Equal(got, again) {
					t.Fatalf("not stable: %s", cmp.Diff(got, again))
				}
			}
		}
	})
}

// A continued list continues the result: what stood before a complete exchange's end stays byte for byte.
func TestFixPairsPrefixStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []json.RawMessage
		for n := range rapid.IntRange(2, 5).Draw(t, "exchanges") {
			head := FixPairs(list)
			list = append(list, soundExchange(t, n)...)
			full := FixPairs(list)
			if len(full) < len(head) || !cmp.Equal(head, full[:len(head)]) {
				t.Fatalf("prefix changed\nbefore %s\nafter  %s", head, full)
			}
		}
	})
}

// soundExchange draws an exchange whose results belong to its own calls, with interruptions and ids used again.
func soundExchange(t *rapid.T, n int) []json.RawMessage {
	list := raws(fmt.Sprintf(`{"role":"user","content":"u%d","timestamp":%d}`, n, n))
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		id := rapid.SampledFrom([]string{"a", "b_1", "b1"}).Draw(t, "id")
		list = append(list, json.RawMessage(call(id)))
		if rapid.Bool().Draw(t, "progress") {
			list = append(list, json.RawMessage(`{"role":"assistant","content":"…"}`))
		}
		if rapid.Bool().Draw(t, "answered") {
			list = append(list, json.RawMessage(result(id, "r")))
		}
	}
	return append(list, json.RawMessage(`{"role":"assistant","content":"done"}`))
}

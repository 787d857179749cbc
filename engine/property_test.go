package engine_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"pgregory.net/rapid"
)

// odd makes random exchanges: tool calls, parallel and aborted ones, huge results, images, CJK, blanks, unknown roles, invalid UTF-8.
// Every message with text begins with a mark of its own.
type odd struct {
	*rapid.T
	h *host
	n int // marks given
}

func (g *odd) mark() string { g.n++; return fmt.Sprintf("m%d·", g.n) }

func (g *odd) text(label string) string {
	size := rapid.SampledFrom([]int{1, 5, 5, 40, 40, 400, 2000}).Draw(g.T, label+" size")
	word := rapid.SampledFrom([]string{"word ", "说明文字", "émoji 🦜 ", "{\"a\":\"b\\n\"} ", "line\n\n"}).Draw(g.T, label+" word")
	return g.mark() + strings.Repeat(word, size)
}

func (g *odd) user() json.RawMessage {
	switch rapid.IntRange(0, 9).Draw(g.T, "user kind") {
	case 0:
		return host1("user", []any{}, g.h.tick(), nil)
	case 1:
		return host1("user", []any{map[string]any{"type": "text", "text": g.text("u")}, map[string]any{"type": "image", "mimeType": "image/png",
			"data": base64.StdEncoding.EncodeToString(make([]byte, 30_000))}}, g.h.tick(), nil)
	case 2:
		return host1("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "nowhere", "content": g.text("u")}}, g.h.tick(), nil)
	case 3:
		return json.RawMessage("{\"role\":\"user\",\"content\":\"" + g.mark() + "\xff\xfe broken \\ud800 end\",\"timestamp\":" + fmt.Sprint(g.h.tick()) + "}")
	case 4:
		return host1("user", "ok", g.h.tick(), nil)
	}
	return g.h.user(g.text("u"))
}

func (g *odd) step(i int) (list []json.RawMessage) {
	id := func(k int) string {
		return rapid.SampledFrom([]string{fmt.Sprintf("call_%d_%d", g.n, k), "same", "call-0"}).Draw(g.T, "id")
	}
	args := map[string]any{"cmd": g.text("args"), "deep": map[string]any{"list": []any{strings.Repeat("x", rapid.SampledFrom([]int{1, 3000}).Draw(g.T, "deep"))}}}
	switch rapid.IntRange(0, 9).Draw(g.T, "step") {
	case 0: // aborted
		return []json.RawMessage{host1("assistant", []any{map[string]any{"type": "text", "text": g.text("a")}, map[string]any{"type": "toolCall", "id": id(0), "name": "run"}},
			g.h.tick(), map[string]any{"stopReason": "aborted"})}
	case 1, 2: // parallel, results in another order, one may be missing
		a, b := fmt.Sprintf("p%d_%da", g.n, i), fmt.Sprintf("p%d_%db", g.n, i)
		list = append(list, host1("assistant", []any{map[string]any{"type": "toolCall", "id": a, "name": "run", "arguments": args},
			map[string]any{"type": "toolCall", "id": b, "name": "read", "arguments": args}}, g.h.tick(), nil), g.h.result(b, "read", g.text("r")))
		if rapid.Bool().Draw(g.T, "both") {
			list = append(list, g.h.result(a, "run", g.text("r")))
		}
		return list
	case 3:
		return []json.RawMessage{host1("bashExecution", nil, g.h.tick(), map[string]any{"command": "ls", "output": g.text("bash")})}
	case 4:
		return []json.RawMessage{host1("custom", g.text("custom"), g.h.tick(), map[string]any{"customType": "note"})}
	case 5:
		return []json.RawMessage{host1("assistant", []any{}, g.h.tick(), map[string]any{"stopReason": "error"})}
	case 6:
		return []json.RawMessage{host1("assistant", []any{map[string]any{"type": "thinking", "thinking": g.text("t"), "thinkingSignature": "s"},
			map[string]any{"type": "text", "text": g.text("a")}}, g.h.tick(), map[string]any{"provider": "x", "model": "y"})}
	case 7: // an orphan
		return []json.RawMessage{g.h.result("orphan"+fmt.Sprint(i), "run", g.text("r"))}
	}
	k := id(1)
	return []json.RawMessage{g.h.call(k, "run", args), g.h.result(k, "run", g.text("r"))}
}

func (g *odd) exchange() []json.RawMessage {
	list := []json.RawMessage{g.user()}
	for i := range rapid.IntRange(0, 4).Draw(g.T, "steps") {
		list = append(list, g.step(i)...)
	}
	if rapid.IntRange(0, 5).Draw(g.T, "unanswered") > 0 {
		list = append(list, g.h.reply(g.text("a")))
	}
	return list
}

// I3, I5, I6, I8: whatever the history, the budget and the moments of compaction.
func TestI6AnyHistoryAnyBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t)
		g := &odd{T: rt, h: h}
		stored := 0
		for range rapid.IntRange(1, 6).Draw(rt, "exchanges") {
			exchange := g.exchange()
			if out := h.commit(exchange...); out.Stored != len(exchange) {
				rt.Fatalf("%d of %d stored", out.Stored, len(exchange))
			}
			stored += len(exchange)
			h.budget = rapid.SampledFrom([]int{200, 500, 1500, 4000, 9000, 20_000, 50_000}).Draw(rt, "budget")
			switch rapid.IntRange(0, 4).Draw(rt, "do") {
			case 0:
				h.compact()
			case 1:
				h.jobs()
			}
			out, err := h.tryAssemble(fmt.Sprintf("what about m%d and the parrot?", g.n))
			if err != nil {
				rt.Fatal(err)
			}
			valid(rt, out, h.budget)
			newestStay(rt, h, out)
		}
		list := h.turns()
		for i, turn := range list {
			if turn.Envelope.Sequence != int64(i+1) {
				rt.Fatal("gap at", i+1)
			}
		}
		if len(list) != stored {
			rt.Fatalf("%d of %d turns", len(list), stored)
		}
		v, err := h.e.Verify(context.Background(), h.identity(), "")
		if err != nil || !v.OK {
			rt.Fatal(v.Problems, err)
		}
	})
}

// newestStay demands the last exchange and the newest eight turns in the view, whenever the budget has room for them in short form.
func newestStay(rt *rapid.T, h *host, out skald.AssembleResult) {
	var marks []string
	starts, turns := 0, 0
	list := h.turns()
	for i := len(list) - 1; i >= 0 && (turns < 8 || starts < 1); i-- {
		turns++
		m, err := message.Parse(list[i].Raw)
		if err != nil {
			continue
		}
		if m.Role == "user" {
			starts++
		}
		mark, _, ok := strings.Cut(m.Text(), "·")
		if (m.Role == "user" || m.Role == "assistant" || m.Role == "bashExecution") && ok && strings.HasPrefix(mark, "m") && !strings.Contains(string(list[i].Raw), "tool_result") {
			marks = append(marks, mark+"·\x00turns/"+fmt.Sprint(list[i].Envelope.Sequence))
		}
	}
	whole := 0 // turns of the exchanges that the newest eight stand in
	for i := len(list) - 1; i >= 0; i-- {
		if whole++; whole >= turns && list[i].Envelope.Role == skald.RoleUser {
			break
		}
	}
	if h.budget < 600+260*whole {
		return
	}
	shown := ""
	for _, m := range out.Messages {
		shown += string(m) + "\n"
	}
	for _, mark := range marks {
		text, uri, _ := strings.Cut(mark, "\x00")
		if !strings.Contains(shown, text) && !strings.Contains(shown, uri) {
			rt.Fatalf("turn %s (%s) left the view of %d tokens (%d turns had to stay), cut: %v", text, uri, h.budget, whole, out.Cut)
		}
	}
}

// I2: whatever a host repeats, by whichever channel, nothing is doubled and nothing lost; genuine repeats are all kept.
func TestI2AnyRepetition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t)
		anchored := rapid.Bool().Draw(rt, "anchored")
		timed := rapid.Bool().Draw(rt, "timed")
		var all []json.RawMessage
		var starts []int
		for range rapid.IntRange(1, 6).Draw(rt, "exchanges") {
			starts = append(starts, len(all))
			for j := range rapid.IntRange(1, 4).Draw(rt, "messages") {
				ts := int64(0)
				if timed {
					ts = h.tick()
				}
				text := rapid.SampledFrom([]string{"ok", "yes", "go on"}).Draw(rt, "text")
				role := "assistant"
				if j == 0 {
					role = "user"
				}
				all = append(all, host1(role, text, ts, nil))
			}
		}
		starts = append(starts, len(all))
		channels := rapid.SampledFrom([][]string{{"commit"}, {"commit", "after"}, {"after", "commit"}, {"after"}, {"commit", "cursor"},
			{"cursor", "commit"}, {"commit", "after", "cursor"}}).Draw(rt, "channels")
		deliver := func(channel string, i int) {
			part := all[starts[i]:starts[i+1]]
			switch channel {
			case "commit":
				r := skald.CommitTurnRequest{Request: h.request(), AdvancementKey: fmt.Sprint("k", i), Messages: part}
				if anchored {
					first, last := starts[i], starts[i+1]-1
					r.Admission = &skald.Anchor{EntryID: fmt.Sprint("e", first), Position: int64(first)}
					r.Terminal = &skald.Anchor{EntryID: fmt.Sprint("e", last), Position: int64(last)}
				}
				if _, err := h.e.CommitTurn(context.Background(), r); err != nil {
					rt.Fatal(err)
				}
			case "after":
				h.afterTurn(starts[i], all[:starts[i+1]]...)
			case "cursor":
				h.transcript(starts[i], part...)
			}
		}
		for i := range len(starts) - 1 {
			for _, c := range channels {
				for range rapid.IntRange(1, 2).Draw(rt, "times") {
					deliver(c, i)
				}
			}
			if rapid.Bool().Draw(rt, "again") { // an older one once more
				deliver(rapid.SampledFrom(channels).Draw(rt, "which"), rapid.IntRange(0, i).Draw(rt, "old"))
			}
		}
		got := h.turns()
		if len(got) != len(all) {
			rt.Fatalf("%d of %d turns by %v, anchored %v, timed %v: %q", len(got), len(all), channels, anchored, timed, h.texts())
		}
		for i := range got {
			if string(got[i].Raw) != string(all[i]) {
				rt.Fatalf("turn %d is %s, want %s", i+1, got[i].Raw, all[i])
			}
		}
		h.verify()
	})
}

// The list of the host's next request begins with the bytes of the last one up to its prompt, for any history.
func TestPrefixOfAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t)
		h.budget = 2_000_000
		off := rapid.Bool().Draw(rt, "without recall")
		on := !off
		h.req.Settings.AutoRecall = &on
		h.session("agent:main:old").commit(h.user("the parrot of m3 is called Polly and word is its word"), h.reply("noted"))
		g := &odd{T: rt, h: h}
		var before []json.RawMessage
		for i := range rapid.IntRange(2, 5).Draw(rt, "exchanges") {
			exchange := g.exchange()
			exchange[0] = h.user(g.text("prompt"))
			out := h.assemble(fmt.Sprintf("what is the word of m3 or m%d and who is the parrot?", i))
			valid(rt, out, h.budget)
			for j := range before {
				if j >= len(out.Messages) || string(before[j]) != string(out.Messages[j]) {
					rt.Fatalf("message %d changed:\n%s\n%s", j, before[j], get(out.Messages, j))
				}
			}
			before = out.Messages
			h.commit(exchange...)
			if rapid.IntRange(0, 3).Draw(rt, "commit") == 0 {
				h.compactAll()
			}
		}
	})
}

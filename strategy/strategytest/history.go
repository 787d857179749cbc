package strategytest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// author writes random exchanges: calls in parallel, aborted, without result, results without call, equal ids, huge texts, images, other
// scripts, blanks, unknown roles, broken UTF-8. Every text begins with a mark of its own.
type author struct {
	*rand.Rand
	w     *world
	marks int
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (a *author) text() string {
	a.marks++
	word := pick(a.Rand, "word ", "说明文字", "émoji 🦜 ", "{\"a\":\"b\\n\"} ", "line\n\n")
	return fmt.Sprintf("m%d·", a.marks) + strings.Repeat(word, pick(a.Rand, 1, 5, 5, 40, 40, 400, 1500))
}

func (a *author) message(role string, content any, more map[string]any) json.RawMessage {
	m := map[string]any{"role": role, "content": content, "timestamp": a.w.tick()}
	for k, v := range more {
		m[k] = v
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // only maps of strings, numbers and lists
	}
	return raw
}

func block(kind, name string, more map[string]any) map[string]any {
	b := map[string]any{"type": kind}
	if name != "" {
		b["text"] = name
	}
	for k, v := range more {
		b[k] = v
	}
	return b
}

func (a *author) user() json.RawMessage {
	switch a.IntN(10) {
	case 0:
		return a.message("user", []any{}, nil)
	case 1:
		image := base64.StdEncoding.EncodeToString(make([]byte, 9_000))
		return a.message("user", []any{block("text", a.text(), nil), block("image", "", map[string]any{"mimeType": "image/png", "data": image})}, nil)
	case 2:
		return a.message("user", []any{block("tool_result", "", map[string]any{"tool_use_id": "nowhere", "content": a.text()})}, nil)
	case 3:
		a.marks++
		return fmt.Appendf(nil, "{\"role\":\"user\",\"content\":\"m%d· \xff\xfe broken \\ud800 end\",\"timestamp\":%d}", a.marks, a.w.tick())
	case 4:
		return a.message("user", "ok", nil)
	}
	return a.message("user", a.text(), nil)
}

func (a *author) call(ids ...string) json.RawMessage {
	var content []any
	for _, id := range ids {
		content = append(content, block("toolCall", "", map[string]any{"id": id, "name": "run", "arguments": map[string]any{
			"cmd": a.text(), "deep": map[string]any{"list": []string{strings.Repeat("x", pick(a.Rand, 1, 1, 3000))}}}}))
	}
	return a.message("assistant", content, map[string]any{"stopReason": "toolUse"})
}

func (a *author) result(id string) json.RawMessage {
	return a.message("toolResult", []any{block("text", a.text(), nil)}, map[string]any{"toolCallId": id, "toolName": "run", "isError": a.IntN(5) == 0})
}

func (a *author) reply(stop string) json.RawMessage {
	return a.message("assistant", []any{block("text", a.text(), nil)}, map[string]any{"stopReason": stop})
}

// step is what an agent does before it answers.
func (a *author) step(i int) []json.RawMessage {
	id := pick(a.Rand, fmt.Sprintf("call_%d_%d", a.marks, i), fmt.Sprintf("call_%d_%d", a.marks, i), "same", "call-0")
	other := fmt.Sprintf("p%d_%d", a.marks, i)
	switch a.IntN(10) {
	case 0:
		return []json.RawMessage{a.call(id), a.reply("aborted")}
	case 1:
		return []json.RawMessage{a.call(id, other), a.result(other), a.result(id)}
	case 2:
		return []json.RawMessage{a.call(id, other), a.result(other)}
	case 3:
		return []json.RawMessage{a.message("bashExecution", nil, map[string]any{"command": "ls", "output": a.text()})}
	case 4:
		return []json.RawMessage{a.message("custom", a.text(), map[string]any{"customType": "note"})}
	case 5:
		return []json.RawMessage{a.message("assistant", []any{}, map[string]any{"stopReason": "error"})}
	case 6:
		return []json.RawMessage{a.message("assistant", []any{block("thinking", "", map[string]any{"thinking": a.text(), "thinkingSignature": "s"}),
			block("text", a.text(), nil)}, map[string]any{"provider": "x", "model": "y"})}
	case 7:
		return []json.RawMessage{a.result(fmt.Sprint("orphan", i))}
	}
	return []json.RawMessage{a.call(id), a.result(id)}
}

func (a *author) exchange() []json.RawMessage {
	list := []json.RawMessage{a.user()}
	for i := range a.IntN(5) {
		list = append(list, a.step(i)...)
	}
	return append(list, a.reply("stop"))
}

// plain is an exchange of about the given tokens: a question, a call with its result, an answer. Each text is named after n.
func (a *author) plain(n, tokens int) []json.RawMessage {
	id := fmt.Sprint("plain", n)
	return []json.RawMessage{
		a.message("user", fmt.Sprintf("ask%d· about room %d", n, 1000+n), nil),
		a.message("assistant", []any{block("toolCall", "", map[string]any{"id": id, "name": "run", "arguments": map[string]any{"n": n}})},
			map[string]any{"stopReason": "toolUse"}),
		a.message("toolResult", []any{block("text", fmt.Sprintf("out%d· ", n)+strings.Repeat("lineof output ", tokens*2/7)+fmt.Sprintf(" end%d·", n), nil)},
			map[string]any{"toolCallId": id, "toolName": "run", "isError": false}),
		a.message("assistant", []any{block("text", fmt.Sprintf("told%d· it is done", n), nil)}, map[string]any{"stopReason": "stop"}),
	}
}

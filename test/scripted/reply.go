package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// answer is a model's reply, ready to be written.
type answer struct {
	req          Request
	profile      *Profile
	includeUsage bool
	reply        Reply
	calls        []ToolCall
	stop         string
	output       int
}

// build gives the calls their ids and counts the output.
func (s *Server) build(c *call, reply Reply) *answer {
	a := &answer{req: c.req, profile: c.profile, includeUsage: c.includeUsage, reply: reply, stop: reply.StopReason}
	for _, t := range reply.calls() {
		s.mu.Lock()
		s.calls++
		n := s.calls
		s.mu.Unlock()
		call := ToolCall{Name: t.Tool, Args: t.args()}
		switch {
		case c.profile.API == Anthropic:
			call.ID = fmt.Sprintf("toolu_%020d", n)
		case c.profile.Dialect == DialectMistral:
			call.ID = fmt.Sprintf("call%05d", n%100000)
		default:
			call.ID = fmt.Sprintf("call_%020d", n)
		}
		if c.profile.Dialect == DialectGemini && len(a.calls) == 0 {
			call.Signature = Signature(call.ID)
		}
		a.calls = append(a.calls, call)
		a.output += EstimateTokens(call.Name + string(call.Args))
	}
	if a.stop == "" {
		switch {
		case c.profile.API == Anthropic && len(a.calls) > 0:
			a.stop = "tool_use"
		case c.profile.API == Anthropic:
			a.stop = "end_turn"
		case len(a.calls) > 0:
			a.stop = "tool_calls"
		default:
			a.stop = "stop"
		}
	}
	a.output += EstimateTokens(reply.Text) + EstimateTokens(reply.Thinking)
	if reply.OutputTokens > 0 {
		a.output = reply.OutputTokens
	}
	return a
}

// pieces cuts a text into a bounded number of stream deltas.
func pieces(s string) []string {
	r := []rune(s)
	size := max(16, (len(r)+39)/40)
	var out []string
	for len(r) > size {
		out = append(out, string(r[:size]))
		r = r[size:]
	}
	if len(r) > 0 {
		out = append(out, string(r))
	}
	return out
}

type stream struct {
	w http.ResponseWriter
	f http.Flusher
}

func startStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(200)
	f, _ := w.(http.Flusher)
	return stream{w, f}
}

func (s stream) send(event string, data []byte) {
	if event != "" {
		_, _ = fmt.Fprintf(s.w, "event: %s\n", event)
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", data)
	if s.f != nil {
		s.f.Flush()
	}
}

func (a *answer) openAIUsage() any {
	return map[string]any{
		"prompt_tokens": a.req.PromptTokens, "completion_tokens": a.output, "total_tokens": a.req.PromptTokens + a.output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": a.req.CachedTokens},
		"completion_tokens_details": map[string]any{"reasoning_tokens": EstimateTokens(a.reply.Thinking)},
	}
}

func (a *answer) openAICall(i int, index bool) map[string]any {
	t := a.calls[i]
	call := map[string]any{"id": t.ID, "type": "function", "function": map[string]any{"name": t.Name, "arguments": string(t.Args)}}
	if index {
		call["index"] = i
	}
	if t.Signature != "" {
		call["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": t.Signature}}
	}
	return call
}

func (a *answer) writeOpenAI(w http.ResponseWriter) {
	envelope := func(object string) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("chatcmpl-%d", a.req.ID), "object": object, "created": a.req.Time.Unix(),
			"model": a.req.Model, "system_fingerprint": "fp_scripted",
		}
	}
	var null any
	if !a.req.Stream {
		message := map[string]any{"role": "assistant", "content": null, "refusal": null}
		if a.reply.Text != "" || len(a.calls) == 0 {
			message["content"] = a.reply.Text
		}
		if a.reply.Thinking != "" {
			message["reasoning_content"] = a.reply.Thinking
		}
		var calls []any
		for i := range a.calls {
			calls = append(calls, a.openAICall(i, false))
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		body := envelope("chat.completion")
		body["choices"] = []any{map[string]any{"index": 0, "message": message, "logprobs": null, "finish_reason": a.stop}}
		body["usage"] = a.openAIUsage()
		writeJSON(w, 200, body)
		return
	}
	s := startStream(w)
	chunk := func(delta map[string]any, finish any) {
		body := envelope("chat.completion.chunk")
		body["choices"] = []any{map[string]any{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}}
		if a.includeUsage {
			body["usage"] = null
		}
		s.send("", encode(body))
	}
	role := map[string]any{"role": "assistant", "content": ""}
	if len(a.calls) > 0 {
		role["content"] = null
	}
	chunk(role, null)
	for _, p := range pieces(a.reply.Thinking) {
		chunk(map[string]any{"reasoning_content": p}, null)
	}
	for _, p := range pieces(a.reply.Text) {
		chunk(map[string]any{"content": p}, null)
	}
	for i := range a.calls {
		call := a.openAICall(i, true)
		function := map[string]any{"name": a.calls[i].Name, "arguments": ""}
		call["function"] = function
		chunk(map[string]any{"tool_calls": []any{call}}, null)
		for _, p := range pieces(string(a.calls[i].Args)) {
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": p}}}}, null)
		}
	}
	chunk(map[string]any{}, a.stop)
	if a.includeUsage {
		body := envelope("chat.completion.chunk")
		body["choices"] = []any{}
		body["usage"] = a.openAIUsage()
		s.send("", encode(body))
	}
	s.send("", []byte("[DONE]"))
}

func (a *answer) anthropicUsage(output int) map[string]any {
	return map[string]any{
		"input_tokens":            a.req.PromptTokens - a.req.CachedTokens - a.req.CacheWriteTokens,
		"cache_read_input_tokens": a.req.CachedTokens, "cache_creation_input_tokens": a.req.CacheWriteTokens,
		"output_tokens": output,
	}
}

func (a *answer) writeAnthropic(w http.ResponseWriter) {
	var null any
	var blocks []map[string]any
	if a.reply.Thinking != "" {
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": a.reply.Thinking, "signature": Signature(a.reply.Thinking)})
	}
	if a.reply.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": a.reply.Text})
	}
	for _, t := range a.calls {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": t.ID, "name": t.Name, "input": t.Args})
	}
	message := map[string]any{
		"id": fmt.Sprintf("msg_%020d", a.req.ID), "type": "message", "role": "assistant", "model": a.req.Model,
		"content": []any{}, "stop_reason": null, "stop_sequence": null,
	}
	if !a.req.Stream {
		content := []any{}
		for _, b := range blocks {
			content = append(content, b)
		}
		message["content"] = content
		message["stop_reason"] = a.stop
		message["usage"] = a.anthropicUsage(a.output)
		writeJSON(w, 200, message)
		return
	}
	s := startStream(w)
	event := func(kind string, fields map[string]any) {
		fields["type"] = kind
		s.send(kind, encode(fields))
	}
	message["usage"] = a.anthropicUsage(1)
	event("message_start", map[string]any{"message": message})
	event("ping", map[string]any{})
	for i, b := range blocks {
		start := map[string]any{"type": b["type"]}
		var deltas []map[string]any
		text := func(kind, field, value string) {
			for _, p := range pieces(value) {
				deltas = append(deltas, map[string]any{"type": kind, field: p})
			}
		}
		switch b["type"] {
		case "thinking":
			start["thinking"], start["signature"] = "", ""
			text("thinking_delta", "thinking", a.reply.Thinking)
			deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": b["signature"]})
		case "text":
			start["text"] = ""
			text("text_delta", "text", a.reply.Text)
		case "tool_use":
			start["id"], start["name"], start["input"] = b["id"], b["name"], map[string]any{}
			text("input_json_delta", "partial_json", string(b["input"].(json.RawMessage)))
		}
		event("content_block_start", map[string]any{"index": i, "content_block": start})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		event("content_block_stop", map[string]any{"index": i})
	}
	event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": a.stop, "stop_sequence": null},
		"usage": a.anthropicUsage(a.output),
	})
	event("message_stop", map[string]any{})
}

// String describes a request in one line, for test failures.
func (r Request) String() string {
	var roles []string
	for _, m := range r.Messages {
		role := m.Role
		switch {
		case m.Internal:
			role = "internal"
		case len(m.ToolCalls) > 0:
			role += "(" + m.ToolCalls[0].Name + ")"
		}
		roles = append(roles, role)
	}
	return fmt.Sprintf("#%d %s %d [%s] %s", r.ID, r.Profile, r.Status, strings.Join(roles, " "), r.Refusal)
}

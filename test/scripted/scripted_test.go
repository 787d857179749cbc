package scripted

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

type obj = map[string]any
type list = []any

func msg(role string, content any) obj { return obj{"role": role, "content": content} }

// oaCall is an OpenAI assistant message with calls of the tool t.
func oaCall(ids ...string) obj {
	var calls list
	for _, id := range ids {
		calls = append(calls, obj{"id": id, "type": "function", "function": obj{"name": "t", "arguments": `{"q":1}`}})
	}
	return obj{"role": "assistant", "content": nil, "tool_calls": calls}
}

func oaResult(id string) obj { return obj{"role": "tool", "tool_call_id": id, "content": "found"} }

func with(o obj, key string, v any) obj {
	out := obj{key: v}
	for k, x := range o {
		if k != key {
			out[k] = x
		}
	}
	return out
}

func text(s string) obj { return obj{"type": "text", "text": s} }

func use(id string) obj { return obj{"type": "tool_use", "id": id, "name": "t", "input": obj{"q": 1}} }

func result(id string) obj {
	return obj{"type": "tool_result", "tool_use_id": id, "content": list{text("found")}}
}

func thought(s string) obj { return obj{"type": "thinking", "thinking": s, "signature": Signature(s)} }

var (
	internal = msg("user", InternalBegin+"\nhost facts\n"+InternalEnd)
	oaTools  = list{obj{"type": "function", "function": obj{"name": "t", "parameters": obj{"type": "object"}}}}
	anTools  = list{obj{"name": "t", "input_schema": obj{"type": "object"}}}
	sys      = msg("system", "be good")
)

func oaBody(messages ...any) obj {
	return obj{"model": "scripted", "messages": messages, "tools": oaTools}
}

func anBody(messages ...any) obj {
	return obj{"model": "scripted", "messages": messages, "tools": anTools, "max_tokens": 4096, "system": "be good"}
}

func thinkingBody(messages ...any) obj {
	return with(anBody(messages...), "thinking", obj{"type": "enabled", "budget_tokens": 1024})
}

func post(t *testing.T, s *Server, profile string, body any) (int, []byte) {
	t.Helper()
	path := "/chat/completions"
	if s.profiles[profile].API == Anthropic {
		path = "/messages"
	}
	data, ok := body.(string)
	if !ok {
		data = string(encode(body))
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.BaseURL(profile)+path, strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}

// TestRules sends bodies to every profile. want is a part of the refusal, or
// "" for a body that is accepted.
func TestRules(t *testing.T) {
	u, a := msg("user", "hello"), msg("assistant", "hi")
	line := msg("user", "recalled notes follow")
	pair := list{line, oaCall("abcdefgh1"), oaResult("abcdefgh1")}
	join := func(parts ...any) list {
		var out list
		for _, p := range parts {
			if l, ok := p.(list); ok {
				out = append(out, l...)
			} else {
				out = append(out, p)
			}
		}
		return out
	}
	oa := func(parts ...any) obj { return oaBody(join(parts...)...) }
	an := func(parts ...any) obj { return anBody(join(parts...)...) }
	th := func(parts ...any) obj { return thinkingBody(join(parts...)...) }
	reasoned := with(oaCall("abcdefgh1"), "reasoning_content", "so")
	signed := oaCall("c1")
	signed["tool_calls"].(list)[0].(obj)["extra_content"] = obj{"google": obj{"thought_signature": "x"}}
	signedFirst := oaCall("c1", "c2")
	signedFirst["tool_calls"].(list)[0].(obj)["extra_content"] = obj{"google": obj{"thought_signature": "x"}}
	badArgs := oaCall("c1")
	badArgs["tool_calls"].(list)[0].(obj)["function"].(obj)["arguments"] = "{"
	anPair := list{line, msg("assistant", list{use("x")}), msg("user", list{result("x")})}
	marked := with(text("x"), "cache_control", obj{"type": "ephemeral"})
	big := strings.Repeat("word ", 60000)

	tests := []struct {
		name, profile string
		body          any
		want          string
	}{
		// Common rules, OpenAI shape.
		{"plain", "openai", oa(sys, u), ""},
		{"with internal context", "openai", oa(sys, u, internal), ""},
		{"parts", "openai", oa(msg("user", list{text("a"), obj{"type": "image_url", "image_url": obj{"url": "data:x"}}})), ""},
		{"developer role", "openai", oa(msg("developer", "x"), u), ""},
		{"recall pair", "openai", oa(sys, u, a, pair, u, internal), ""},
		{"tool loop", "openai", oa(sys, u, oaCall("c1"), oaResult("c1")), ""},
		{"tool loop, context last", "openai", oa(sys, u, oaCall("c1"), oaResult("c1"), internal), ""},
		{"two results, other order", "openai", oa(u, oaCall("c1", "c2"), oaResult("c2"), oaResult("c1")), ""},
		{"ids repeated in later messages", "openai", oa(u, oaCall("c1"), oaResult("c1"), a, u, oaCall("c1"), oaResult("c1")), ""},
		{"not JSON", "openai", "{", "could not parse"},
		{"JSON list", "openai", "[]", "could not parse"},
		{"no model", "openai", obj{"messages": list{u}}, "model"},
		{"no messages", "openai", obj{"model": "m"}, "messages"},
		{"empty messages", "openai", obj{"model": "m", "messages": list{}}, "at least one"},
		{"unknown field", "openai", with(oa(u), "contextEngine", 1), "Unknown parameter: 'contextEngine'"},
		{"stream options without stream", "openai", with(oa(u), "stream_options", obj{"include_usage": true}), "stream_options"},
		{"empty tools", "openai", with(oa(u), "tools", list{}), "empty array"},
		{"tool without name", "openai", with(oa(u), "tools", list{obj{"type": "function", "function": obj{}}}), "tool names"},
		{"tool with a dot", "openai", with(oa(u), "tools", list{obj{"type": "function", "function": obj{"name": "a.b"}}}), "tool names"},
		{"tool named twice", "openai", with(oa(u), "tools", list{oaTools[0], oaTools[0]}), "unique"},
		{"only system", "openai", oa(sys), "at least one user"},
		{"assistant first", "openai", oa(sys, a, u), "first message"},
		{"call first", "openai", oa(sys, oaCall("c1"), oaResult("c1"), u), "first message"},
		{"assistant last", "openai", oa(u, a), "last message"},
		{"unknown role", "openai", oa(u, msg("memory", "x"), u), "Invalid value: 'memory'"},
		{"toolResult role", "openai", oa(u, msg("toolResult", "x")), "Invalid value: 'toolResult'"},
		{"message no object", "openai", oa("hello"), "message object"},
		{"empty user", "openai", oa(msg("user", "")), "empty"},
		{"null user", "openai", oa(obj{"role": "user", "content": nil}), "null"},
		{"empty parts", "openai", oa(msg("user", list{})), "empty array"},
		{"empty text part", "openai", oa(msg("user", list{text("")})), "empty text part"},
		{"unknown part", "openai", oa(msg("user", list{obj{"type": "toolCall"}})), "toolCall"},
		{"number content", "openai", oa(msg("user", 7)), "expected a string"},
		{"empty system", "openai", oa(msg("system", ""), u), "empty"},
		{"empty assistant", "openai", oa(u, msg("assistant", ""), u), "needs content"},
		{"empty tool_calls", "openai", oa(u, with(a, "tool_calls", list{}), u), "empty array"},
		{"calls of a user", "openai", oa(with(oaCall("c1"), "role", "user"), oaResult("c1")), "messages[0]"},
		{"tool_call_id of a user", "openai", oa(with(u, "tool_call_id", "x")), "only a tool message"},
		{"tool without id", "openai", oa(u, oaCall("c1"), msg("tool", "x")), "tool_call_id"},
		{"null result", "openai", oa(u, oaCall("c1"), with(oaResult("c1"), "content", nil)), "null"},
		{"unanswered", "openai", oa(u, oaCall("c1"), u), "did not have response messages: c1"},
		{"unanswered at the end", "openai", oa(u, oaCall("c1")), "did not have response messages: c1"},
		{"one of two answered", "openai", oa(u, oaCall("c1", "c2"), oaResult("c1"), u), "response messages: c2"},
		{"answered twice", "openai", oa(u, oaCall("c1"), oaResult("c1"), oaResult("c1")), "must be a response"},
		{"orphan result", "openai", oa(u, oaResult("c1")), "must be a response"},
		{"unknown id", "openai", oa(u, oaCall("c1"), oaResult("c1"), oaResult("c2")), "must be a response"},
		{"user between call and result", "openai", oa(u, oaCall("c1"), internal, oaResult("c1")), "did not have response"},
		{"double id", "openai", oa(u, oaCall("c1", "c1"), oaResult("c1")), "duplicate"},
		{"empty id", "openai", oa(u, oaCall(""), oaResult("c1")), "id"},
		{"long id", "openai", oa(u, oaCall(strings.Repeat("x", 41)), oaResult(strings.Repeat("x", 41))), "too long"},
		{"bad arguments", "openai", oa(u, badArgs, oaResult("c1")), "not a JSON object"},
		{"too long", "openai", oa(msg("user", big)), "maximum context length is 64000 tokens. However, your messages resulted in 75"},
		{"too long for the small model", "openai", with(oa(msg("user", big[:100000])), "model", "small"), "maximum context length is 20000"},
		{"fits the large model", "openai", oa(msg("user", big[:100000])), ""},

		// Reasoning models.
		{"reasoning there", "openai-thinking", oa(u, reasoned, oaResult("abcdefgh1"), u), ""},
		{"no calls, no reasoning", "openai-thinking", oa(u, a, u), ""},
		{"reasoning missing", "openai-thinking", oa(u, pair, u), "reasoning_content is missing in assistant tool call message at index 2"},
		{"reasoning empty", "openai-thinking", oa(u, with(reasoned, "reasoning_content", ""), oaResult("abcdefgh1"), u), "reasoning_content is missing"},

		// Gemini.
		{"pair after a user line", "gemini", oa(sys, u, a, pair, u, internal), ""},
		{"call after a result", "gemini", oa(u, oaCall("c1"), oaResult("c1"), oaCall("c2"), oaResult("c2")), ""},
		{"call after the context", "gemini", oa(u, internal, oaCall("c1"), oaResult("c1")), ""},
		{"call after an assistant", "gemini", oa(u, a, oaCall("c1"), oaResult("c1"), u), "immediately after a user turn"},
		{"unanswered", "gemini", oa(u, oaCall("c1", "c2"), oaResult("c1")), "number of function response parts"},
		{"too long", "gemini", oa(msg("user", big)), "exceeds the maximum number of tokens allowed (64000)"},
		{"pair before the prompt, unsigned", "gemini-signed", oa(u, a, pair, u, internal), ""},
		{"current call signed", "gemini-signed", oa(u, internal, signed, oaResult("c1")), ""},
		{"first of two signed", "gemini-signed", oa(u, signedFirst, oaResult("c1"), oaResult("c2"), internal), ""},
		{"current call unsigned", "gemini-signed", oa(u, internal, oaCall("c1"), oaResult("c1")), "missing a thought_signature"},
		{"second step unsigned", "gemini-signed", oa(u, signed, oaResult("c1"), oaCall("c2"), oaResult("c2")), "missing a thought_signature"},

		// Mistral.
		{"nine letters", "mistral", oa(u, oaCall("abcdefgh1"), oaResult("abcdefgh1")), ""},
		{"context after the result", "mistral", oa(u, oaCall("abcdefgh1"), oaResult("abcdefgh1"), internal), ""},
		{"assistant between", "mistral", oa(u, oaCall("abcdefgh1"), oaResult("abcdefgh1"), a, u, internal), ""},
		{"user after the result", "mistral", oa(u, a, pair, u, internal), "Unexpected role 'user' after role 'tool'"},
		{"short id", "mistral", oa(u, oaCall("abc"), oaResult("abc")), "length of 9"},
		{"underscore", "mistral", oa(u, oaCall("call_1234"), oaResult("call_1234")), "length of 9"},
		{"too long", "mistral", oa(msg("user", big)), "too large for model with 64000"},

		// Strict alternation.
		{"alternating", "strict-alternation", oa(sys, u, a, u), ""},
		{"prompt and context", "strict-alternation", oa(sys, u, a, u, internal), ""},
		{"context after a result", "strict-alternation", oa(sys, u, oaCall("c1"), oaResult("c1"), internal), ""},
		{"pair", "strict-alternation", oa(sys, u, a, pair, u, internal), ""},
		{"two users", "strict-alternation", oa(sys, line, u, internal), "two user messages in a row"},
		{"context between two users", "strict-alternation", oa(sys, line, internal, u), "two user messages in a row"},
		{"two assistants", "strict-alternation", oa(sys, u, a, a, u), "two assistant messages in a row"},
		{"assistant and call", "strict-alternation", oa(sys, u, a, oaCall("c1"), oaResult("c1")), "two assistant messages"},
		{"late system", "strict-alternation", oa(u, a, sys, u), "at the beginning"},

		// No tools.
		{"no calls, no tools", "no-tools", obj{"model": "m", "messages": list{u, a, u}}, ""},
		{"calls and tools", "no-tools", oa(u, pair, u), ""},
		{"calls without tools", "no-tools", obj{"model": "m", "messages": join(u, a, pair, u)}, "must define tools"},

		// Common rules, Anthropic shape.
		{"plain", "anthropic", an(u), ""},
		{"users in a row", "anthropic", an(line, u, internal), ""},
		{"recall pair", "anthropic", an(u, a, anPair, u, internal), ""},
		{"result and prompt in one", "anthropic", an(u, msg("assistant", list{use("x")}), msg("user", list{result("x"), text("go on")})), ""},
		{"two results", "anthropic", an(u, msg("assistant", list{use("x"), use("y")}), msg("user", list{result("y"), result("x")})), ""},
		{"result without content", "anthropic", an(u, msg("assistant", list{use("x")}), msg("user", list{obj{"type": "tool_result", "tool_use_id": "x"}})), ""},
		{"image", "anthropic", an(msg("user", list{obj{"type": "image", "source": obj{"type": "base64", "media_type": "image/png", "data": "AA"}}})), ""},
		{"not JSON", "anthropic", "nope", "could not parse"},
		{"no max_tokens", "anthropic", obj{"model": "m", "messages": list{u}}, "max_tokens"},
		{"unknown field", "anthropic", with(an(u), "prompt_cache_key", "x"), "prompt_cache_key: Extra inputs"},
		{"unknown message field", "anthropic", an(with(u, "timestamp", 1)), "messages.0.timestamp: Extra inputs"},
		{"unknown block field", "anthropic", an(msg("user", list{with(text("x"), "textSignature", "s")})), "textSignature: Extra inputs"},
		{"unknown block", "anthropic", an(msg("user", list{obj{"type": "toolCall"}})), "does not match any"},
		{"system role", "anthropic", an(sys, u), "Unexpected role \"system\""},
		{"empty system block", "anthropic", with(an(u), "system", list{text("")}), "non-empty"},
		{"assistant first", "anthropic", an(a, u), "first message"},
		{"assistant last", "anthropic", an(u, a), "end with a user message"},
		{"empty content", "anthropic", an(msg("user", "")), "non-empty content"},
		{"empty list", "anthropic", an(u, msg("assistant", list{}), u), "non-empty content"},
		{"empty text", "anthropic", an(msg("user", list{text("")})), "must be non-empty"},
		{"white text", "anthropic", an(msg("user", list{text(" \n")})), "non-whitespace"},
		{"empty text in a result", "anthropic", an(u, msg("assistant", list{use("x")}), msg("user", list{with(result("x"), "content", list{text("")})})), "must be non-empty"},
		{"unanswered", "anthropic", an(u, msg("assistant", list{use("x")}), u), "without `tool_result` blocks immediately after: x"},
		{"one of two", "anthropic", an(u, msg("assistant", list{use("x"), use("y")}), msg("user", list{result("x")})), "immediately after: y"},
		{"results in two messages", "anthropic", an(u, msg("assistant", list{use("x"), use("y")}), msg("user", list{result("x")}), msg("user", list{result("y")})), "immediately after: y"},
		{"text before the result", "anthropic", an(u, msg("assistant", list{use("x")}), msg("user", list{text("first"), result("x")})), "immediately after: x"},
		{"unknown id", "anthropic", an(u, msg("assistant", list{use("x")}), msg("user", list{result("x"), result("z")})), "unexpected `tool_use_id`"},
		{"orphan result", "anthropic", an(msg("user", list{result("z")})), "unexpected `tool_use_id`"},
		{"double id", "anthropic", an(u, msg("assistant", list{use("x"), use("x")}), msg("user", list{result("x")})), "must be unique"},
		{"double id, later", "anthropic", an(u, anPair, a, anPair, u), "must be unique"},
		{"bad id", "anthropic", an(u, msg("assistant", list{use("a.b")}), msg("user", list{result("a.b")})), "match pattern"},
		{"input no object", "anthropic", an(u, msg("assistant", list{with(use("x"), "input", "{}")}), msg("user", list{result("x")})), "valid dictionary"},
		{"call of a user", "anthropic", an(msg("user", list{use("x")})), "only be in `assistant`"},
		{"result of an assistant", "anthropic", an(u, msg("assistant", list{result("x")}), u), "only be in `user`"},
		{"four marks", "anthropic", an(msg("user", list{marked, marked, marked, marked})), ""},
		{"five marks", "anthropic", an(msg("user", list{marked, marked, marked, marked, marked})), "maximum of 4 blocks"},
		{"too long", "anthropic", an(msg("user", big)), "prompt is too long: 75"},
		{"thinking unsigned", "anthropic", an(u, msg("assistant", list{obj{"type": "thinking", "thinking": "x"}, text("a")}), u), "signature: Field required"},

		// Anthropic with thinking.
		{"loop with thinking", "anthropic-thinking", th(u, internal, msg("assistant", list{thought("x"), use("x")}), msg("user", list{result("x")})), ""},
		{"loop with redacted thinking", "anthropic-thinking", th(u, msg("assistant", list{obj{"type": "redacted_thinking", "data": "x"}, use("x")}), msg("user", list{result("x")}), internal), ""},
		{"second step without thinking", "anthropic-thinking", th(u, msg("assistant", list{thought("x"), use("x")}), msg("user", list{result("x")}), msg("assistant", list{use("y")}), msg("user", list{result("y")})), ""},
		{"earlier loop without thinking", "anthropic-thinking", th(u, msg("assistant", list{use("x")}), msg("user", list{result("x")}), a, u), ""},
		{"pair before the prompt", "anthropic-thinking", th(u, a, anPair, u, internal), ""},
		{"thinking off", "anthropic-thinking", an(u, msg("assistant", list{use("x")}), msg("user", list{result("x")})), ""},
		{"adaptive", "anthropic-thinking", with(an(u, msg("assistant", list{use("x")}), msg("user", list{result("x")})), "thinking", obj{"type": "adaptive"}), ""},
		{"loop without thinking", "anthropic-thinking", th(u, msg("assistant", list{use("x")}), msg("user", list{result("x")})), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"loop without thinking, context last", "anthropic-thinking", th(u, msg("assistant", list{use("x")}), msg("user", list{result("x")}), internal), "found `tool_use`"},
		{"text before thinking", "anthropic-thinking", th(u, msg("assistant", list{text("a"), thought("x"), use("x")}), msg("user", list{result("x")})), "found `text`"},
		{"pair after the prompt", "anthropic-thinking", th(u, a, u, anPair[1], anPair[2]), "found `tool_use`"},
		{"forged signature", "anthropic-thinking", th(u, msg("assistant", list{with(thought("x"), "signature", "AAAA"), use("x")}), msg("user", list{result("x")})), "Invalid `signature`"},
		{"changed thinking", "anthropic-thinking", th(u, msg("assistant", list{with(thought("x"), "thinking", "y"), text("a")}), u), "Invalid `signature`"},
		{"small budget", "anthropic-thinking", with(an(u), "thinking", obj{"type": "enabled", "budget_tokens": 100}), "budget_tokens"},
		{"budget over max_tokens", "anthropic-thinking", with(an(u), "thinking", obj{"type": "enabled", "budget_tokens": 9000}), "max_tokens"},
		{"forced tool", "anthropic-thinking", with(th(u), "tool_choice", obj{"type": "any"}), "forces tool use"},
		{"merged: pair before the prompt", "anthropic-thinking-merged", th(u, a, anPair, u, internal), "found `tool_use`"},
		{"merged: pair in an earlier turn", "anthropic-thinking-merged", th(u, a, anPair, u, a, u, internal), ""},
		{"merged: loop with thinking", "anthropic-thinking-merged", th(u, internal, msg("assistant", list{thought("x"), use("x")}), msg("user", list{result("x")}), internal), ""},
		{"merged: plain", "anthropic-thinking-merged", th(u, a, u), ""},
	}
	s := New(Options{TB: t})
	for _, tt := range tests {
		t.Run(tt.profile+"/"+tt.name, func(t *testing.T) {
			status, out := post(t, s, tt.profile, tt.body)
			all := s.Requests()
			got := all[len(all)-1]
			if got.Status != status {
				t.Errorf("recorded status %d, sent %d", got.Status, status)
			}
			if tt.want == "" {
				if status != 200 || got.Refusal != "" {
					t.Fatalf("refused: %s", out)
				}
				return
			}
			if status != 400 || !strings.Contains(got.Refusal, tt.want) {
				t.Fatalf("status %d, refusal %q, want %q", status, got.Refusal, tt.want)
			}
			checkErrorShape(t, s.profiles[tt.profile].Dialect, out, got.Refusal)
		})
	}
}

func checkErrorShape(t *testing.T, d Dialect, out []byte, message string) {
	t.Helper()
	var o struct {
		Type, Object, Message string
		Error                 struct {
			Type, Message, Status string
			Code                  any
		}
	}
	if d == DialectGemini {
		out = bytes.TrimSuffix(bytes.TrimPrefix(out, []byte("[")), []byte("]"))
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatal(err)
	}
	ok := o.Error.Message == message
	switch d {
	case DialectAnthropic:
		ok = ok && o.Type == "error" && o.Error.Type == "invalid_request_error"
	case DialectGemini:
		ok = ok && o.Error.Status == "INVALID_ARGUMENT"
	case DialectMistral:
		ok = o.Object == "error" && o.Message == message
	default:
		ok = ok && o.Error.Type == "invalid_request_error"
		if strings.Contains(message, "maximum context length") {
			ok = ok && o.Error.Code == "context_length_exceeded"
		}
	}
	if !ok {
		t.Errorf("error body %s", out)
	}
}

func TestMissingVersionHeaderAndPaths(t *testing.T) {
	s := New(Options{TB: t})
	body := string(encode(anBody(msg("user", "x"))))
	res, err := http.Post(s.BaseURL("anthropic")+"/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 400 || len(s.Refusals()) != 1 {
		t.Errorf("status %d", res.StatusCode)
	}
	for _, path := range []string{"/anthropic/v1/v1/messages", "/anthropic/v1/chat/completions", "/nobody/v1/messages", "/"} {
		res, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 404 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if got := s.Misses(); len(got) != 4 || got[0] != "POST /anthropic/v1/v1/messages" {
		t.Errorf("misses %q", got)
	}
	for _, name := range s.ProfileNames() {
		res, err := http.Get(s.BaseURL(name) + "/models")
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Data []struct{ ID string } }
		err = json.NewDecoder(res.Body).Decode(&o)
		res.Body.Close()
		if err != nil || len(o.Data) != 2 || o.Data[0].ID != DefaultModel {
			t.Errorf("%s: models %v %v", name, o, err)
		}
		if s.Provider(name)["baseUrl"] != s.BaseURL(name) {
			t.Errorf("%s: provider", name)
		}
	}
}

type event struct{ name, data string }

func events(t *testing.T, out []byte) []event {
	t.Helper()
	var list []event
	var e event
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		switch {
		case line == "":
			list = append(list, e)
			e = event{}
		case strings.HasPrefix(line, "event: "):
			e.name = line[7:]
		case strings.HasPrefix(line, "data: "):
			e.data = line[6:]
		default:
			t.Fatalf("line %q", line)
		}
	}
	return list
}

type oaAnswer struct {
	text, reasoning, finish string
	calls                   []openAICall
	usage                   map[string]any
}

// readOpenAI assembles a stream as a client does.
func readOpenAI(t *testing.T, out []byte) (a oaAnswer) {
	t.Helper()
	list := events(t, out)
	if len(list) == 0 || list[len(list)-1].data != "[DONE]" {
		t.Fatalf("no [DONE]: %s", out)
	}
	args := map[int]string{}
	for _, e := range list[:len(list)-1] {
		var c struct {
			Object  string
			Choices []struct {
				Delta struct {
					Content   *string
					Reasoning string           `json:"reasoning_content"`
					ToolCalls []map[string]any `json:"tool_calls"`
				}
				Finish string `json:"finish_reason"`
			}
			Usage map[string]any
		}
		if err := json.Unmarshal([]byte(e.data), &c); err != nil || c.Object != "chat.completion.chunk" {
			t.Fatalf("chunk %s: %v", e.data, err)
		}
		if c.Usage != nil {
			a.usage = c.Usage
		}
		if len(c.Choices) == 0 {
			continue
		}
		d := c.Choices[0].Delta
		if d.Content != nil {
			a.text += *d.Content
		}
		a.reasoning += d.Reasoning
		a.finish = c.Choices[0].Finish
		for _, raw := range d.ToolCalls {
			i := int(raw["index"].(float64))
			var call openAICall
			if err := json.Unmarshal(encode(raw), &call); err != nil {
				t.Fatal(err)
			}
			if i == len(a.calls) {
				a.calls = append(a.calls, call)
			}
			var s string
			_ = json.Unmarshal(call.Function.Arguments, &s)
			args[i] += s
		}
	}
	for i := range a.calls {
		a.calls[i].Function.Arguments = json.RawMessage(args[i])
	}
	return a
}

func streamed(body obj) obj {
	return with(with(body, "stream", true), "stream_options", obj{"include_usage": true})
}

// TestOpenAIStreams runs a whole tool loop on every openai-completions profile
// and sends back what came, as a client would.
func TestOpenAIStreams(t *testing.T) {
	s := New(Options{TB: t})
	for _, name := range s.ProfileNames() {
		if s.profiles[name].API != OpenAI {
			continue
		}
		t.Run(name, func(t *testing.T) {
			args := `{"query":"a long enough query to be cut into pieces"}`
			messages := list{sys, msg("user", "[Mon 2026-11-30 12:03 UTC] THINK CALLS 2 t "+args+" please"), internal}
			for round := range 3 {
				status, out := post(t, s, name, streamed(oaBody(messages...)))
				if status != 200 {
					t.Fatalf("round %d: %s", round, out)
				}
				a := readOpenAI(t, out)
				if a.usage["prompt_tokens"].(float64) <= 0 {
					t.Errorf("usage %v", a.usage)
				}
				if a.reasoning == "" {
					t.Error("no reasoning")
				}
				if round == 2 {
					if a.finish != "stop" || !strings.HasPrefix(a.text, "ok: THINK CALLS 2") || !strings.Contains(a.text, "result: found") {
						t.Errorf("%+v", a)
					}
					if c := a.usage["prompt_tokens_details"].(obj)["cached_tokens"].(float64); c <= 0 {
						t.Error("no cached tokens")
					}
					break
				}
				if a.finish != "tool_calls" || len(a.calls) != 1 || string(a.calls[0].Function.Arguments) != args {
					t.Fatalf("%+v", a)
				}
				call := a.calls[0]
				wire := obj{"id": call.ID, "type": "function", "function": obj{"name": call.Function.Name, "arguments": string(call.Function.Arguments)}}
				if call.Extra.Google.Signature != "" {
					wire["extra_content"] = obj{"google": obj{"thought_signature": call.Extra.Google.Signature}}
				}
				messages = append(messages, obj{"role": "assistant", "content": nil, "reasoning_content": a.reasoning, "tool_calls": list{wire}},
					obj{"role": "tool", "tool_call_id": call.ID, "content": "found"})
			}
		})
	}
}

func TestOpenAIWithoutStream(t *testing.T) {
	s := New(Options{TB: t})
	_, out := post(t, s, "openai", oaBody(msg("user", `PARALLEL 3 t {"a":[1,2]}`)))
	var o struct {
		Choices []struct {
			Message struct {
				Content   *string
				ToolCalls []openAICall `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatal(err)
	}
	c := o.Choices[0]
	if c.Finish != "tool_calls" || len(c.Message.ToolCalls) != 3 || c.Message.Content != nil || o.Usage.Prompt == 0 {
		t.Errorf("%s", out)
	}
	if c.Message.ToolCalls[0].ID == c.Message.ToolCalls[1].ID {
		t.Error("double ids")
	}
}

// TestAnthropicStreams runs a whole tool loop, streaming, with and without
// thinking.
func TestAnthropicStreams(t *testing.T) {
	s := New(Options{TB: t})
	for _, name := range []string{"anthropic", "anthropic-thinking", "anthropic-thinking-merged"} {
		t.Run(name, func(t *testing.T) {
			messages := list{msg("user", `PARALLEL 2 t {"query":"a long enough query to be cut"}`), internal}
			for round := range 2 {
				body := anBody(messages...)
				if name != "anthropic" {
					body = thinkingBody(messages...)
				}
				status, out := post(t, s, name, with(body, "stream", true))
				if status != 200 {
					t.Fatalf("%s", out)
				}
				blocks, stop := readAnthropic(t, out)
				if (name != "anthropic") != (blocks[0]["type"] == "thinking") {
					t.Fatalf("first block %v", blocks[0])
				}
				if round == 1 {
					if last := blocks[len(blocks)-1]; stop != "end_turn" || !strings.HasPrefix(last["text"].(string), "ok: PARALLEL") {
						t.Errorf("%s %v", stop, last)
					}
					break
				}
				if stop != "tool_use" {
					t.Fatal(stop)
				}
				var content, results list
				for _, b := range blocks {
					content = append(content, b)
					if b["type"] == "tool_use" {
						results = append(results, result(b["id"].(string)))
						if string(encode(b["input"])) != `{"query":"a long enough query to be cut"}` {
							t.Errorf("input %v", b["input"])
						}
					}
				}
				if len(results) != 2 {
					t.Fatalf("%v", blocks)
				}
				messages = append(messages, msg("assistant", content), msg("user", results))
			}
		})
	}
}

func readAnthropic(t *testing.T, out []byte) (blocks []obj, stop string) {
	t.Helper()
	list := events(t, out)
	if list[0].name != "message_start" || list[len(list)-1].name != "message_stop" {
		t.Fatalf("%s", out)
	}
	input := ""
	for _, e := range list {
		var d struct {
			Type    string
			Index   int
			Message struct {
				Usage map[string]int
			}
			Block obj `json:"content_block"`
			Delta struct {
				Type, Text, Thinking, Signature string
				Partial                         string `json:"partial_json"`
				Stop                            string `json:"stop_reason"`
			}
			Usage map[string]int
		}
		if err := json.Unmarshal([]byte(e.data), &d); err != nil || d.Type != e.name {
			t.Fatalf("%v: %v", e, err)
		}
		switch e.name {
		case "message_start":
			if u := d.Message.Usage; u["input_tokens"]+u["cache_creation_input_tokens"]+u["cache_read_input_tokens"] <= 0 {
				t.Errorf("usage %v", u)
			}
		case "content_block_start":
			if d.Index != len(blocks) {
				t.Errorf("index %d", d.Index)
			}
			blocks = append(blocks, d.Block)
			input = ""
		case "content_block_delta":
			b := blocks[d.Index]
			switch d.Delta.Type {
			case "text_delta":
				b["text"] = b["text"].(string) + d.Delta.Text
			case "thinking_delta":
				b["thinking"] = b["thinking"].(string) + d.Delta.Thinking
			case "signature_delta":
				b["signature"] = d.Delta.Signature
			case "input_json_delta":
				input += d.Delta.Partial
			}
		case "content_block_stop":
			if input != "" {
				b := blocks[d.Index]
				var v any
				if err := json.Unmarshal([]byte(input), &v); err != nil {
					t.Fatal(err)
				}
				b["input"] = v
			}
		case "message_delta":
			stop = d.Delta.Stop
			if d.Usage["output_tokens"] <= 0 {
				t.Errorf("usage %v", d.Usage)
			}
		}
	}
	return blocks, stop
}

// ask sends one prompt after others and returns the answer's text.
func ask(t *testing.T, s *Server, profile string, before list, prompt string) string {
	t.Helper()
	messages := append(append(list{}, before...), msg("user", prompt), internal)
	body := oaBody(messages...)
	if s.profiles[profile].API == Anthropic {
		body = anBody(messages...)
	}
	status, out := post(t, s, profile, body)
	if status != 200 {
		return string(out)
	}
	var o struct {
		Choices []struct{ Message struct{ Content string } }
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Choices) > 0 {
		return o.Choices[0].Message.Content
	}
	return o.Content[len(o.Content)-1].Text
}

func TestScript(t *testing.T) {
	s := New(Options{TB: t})
	before := list{sys, msg("user", "notes: the code is X-17\nANSWER-FROM-CONTEXT nothing|Y-9"), msg("assistant", "NOT FOUND"),
		msg("user", "notes"), oaCall("c1"), with(oaResult("c1"), "content", `{"memories":["ANSWER-FROM-CONTEXT Z-\\d","the key is Z-4"]}`)}
	for _, tt := range []struct{ prompt, want string }{
		{"hello", "ok: hello"},
		{"[Mon 2026-11-30 12:03 UTC] hello\n\nRuntime: agent=main", "ok: hello"},
		{"hello\n" + InternalBegin + " x " + InternalEnd, "ok: hello"},
		{"LONG 3", "river0 stone1 lantern2"},
		{`ANSWER-FROM-CONTEXT X-\d+`, "X-17"},
		{`ANSWER-FROM-CONTEXT /X-\d\d/` + "\n\nRuntime: agent=main", "X-17"},
		{`ANSWER-FROM-CONTEXT Z-\d`, "Z-4"},
		{"ANSWER-FROM-CONTEXT Y-9", "NOT FOUND"},
		{"ANSWER-FROM-CONTEXT be good", "NOT FOUND"},
		{"ANSWER-FROM-CONTEXT (", "BAD REGEXP: error parsing regexp: missing closing ): `(`"},
	} {
		if got := ask(t, s, "openai", before, tt.prompt); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.prompt, got, tt.want)
		}
	}
	if got := ask(t, s, "openai", nil, "FAIL 503 all busy"); got != `{"error":{"code":null,"message":"all busy","param":null,"type":"server_error"}}` {
		t.Error(got)
	}
	if got := ask(t, s, "anthropic", nil, "FAIL 529"); !strings.Contains(got, "overloaded_error") {
		t.Error(got)
	}
	begin := time.Now()
	ask(t, s, "openai", nil, "SLOW 60")
	if time.Since(begin) < 60*time.Millisecond {
		t.Error("not slow")
	}
	status, out := post(t, s, "openai", obj{"model": "m", "messages": list{msg("user", "CALL t {}")}})
	if status != 200 || !strings.Contains(string(out), "no tools offered") {
		t.Errorf("%s", out)
	}
}

func TestSteps(t *testing.T) {
	plan, rest := steps(`go CALL tool_call {"id":"r","args":{"q":"a } b"}} then CALLS 2 b PARALLEL 2 c {"x":1} end`)
	if len(plan) != 4 || plan[0][0].Tool != "tool_call" || string(plan[0][0].args()) != `{"id":"r","args":{"q":"a } b"}}` ||
		plan[1][0].Tool != "b" || string(plan[2][0].args()) != "{}" || len(plan[3]) != 2 || rest != "go  then  end" {
		t.Errorf("%v %q", plan, rest)
	}
	if plan, _ := steps("RECALL t {} and CALLER t"); plan != nil {
		t.Errorf("%v", plan)
	}
}

func TestHang(t *testing.T) {
	s := New(Options{TB: t})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.BaseURL("openai")+"/chat/completions",
		bytes.NewReader(encode(oaBody(msg("user", "HANG")))))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	wait, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	all, err := s.WaitRequests(wait, 1)
	if err != nil || all[0].Status != 0 {
		t.Fatal(err, all)
	}
	cancel()
	if <-done == nil {
		t.Error("an answer came")
	}
	for s.Requests()[0].Status != 499 {
		if wait.Err() != nil {
			t.Fatal("the client's leaving was not seen")
		}
		time.Sleep(time.Millisecond)
	}
	short, stop2 := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop2()
	if _, err := s.WaitRequests(short, 2); err == nil {
		t.Error("no error")
	}
}

func TestQueueAndHandler(t *testing.T) {
	s := New(Options{TB: t})
	s.SetHandler(func(r Request) (Reply, bool) {
		if r.PromptText() == "special" {
			return Reply{Text: "handled"}, true
		}
		return Reply{}, false
	})
	s.Push("openai", Reply{Text: "queued", PromptTokens: 18900, OutputTokens: 7}, s.Overflow("openai", 70000))
	if got := ask(t, s, "anthropic", nil, "special"); got != "handled" {
		t.Error(got)
	}
	if status, _ := post(t, s, "openai", oaBody(msg("user", ""))); status != 400 || s.Queued("openai") != 2 {
		t.Error("a refused request took a reply")
	}
	if got := ask(t, s, "openai", nil, "special"); got != "queued" {
		t.Error(got)
	}
	if r := s.Requests()[2]; r.PromptTokens != 18900 || r.Reply.Text != "queued" {
		t.Errorf("%v", r)
	}
	if got := ask(t, s, "openai", nil, "special"); !strings.Contains(got, "context_length_exceeded") || !strings.Contains(got, "70000 tokens") {
		t.Error(got)
	}
	if got := ask(t, s, "openai", nil, "special"); got != "handled" {
		t.Error(got)
	}
	if got := ask(t, s, "openai", nil, "other"); got != "ok: other" {
		t.Error(got)
	}
	if len(s.Since(4)) != 2 || len(s.Refusals()) != 1 {
		t.Error(s.Requests())
	}
}

func TestRecord(t *testing.T) {
	s := New(Options{TB: t})
	mark := obj{"type": "ephemeral"}
	post(t, s, "anthropic", anBody(msg("user", "notes"), msg("assistant", list{text("a"), use("x")}),
		msg("user", list{result("x"), with(text("the prompt"), "cache_control", mark), text(InternalBegin + "x")})))
	r := s.Requests()[0]
	if len(r.Messages) != 5 || r.PromptIndex != 3 || r.Prompt != "the prompt" || r.System != "be good" || r.Tools[0] != "t" {
		t.Fatalf("%+v", r)
	}
	m := r.Messages
	if m[1].ToolCalls[0].Name != "t" || m[1].Text != "a" || m[2].ToolResultFor != "x" || m[2].Text != "found" ||
		!m[3].CacheControl || m[3].Internal || !m[4].Internal {
		t.Errorf("%+v", m)
	}
	post(t, s, "openai", oaBody(sys, msg("user", "notes"), oaCall("c1"), oaResult("c1"), msg("user", "the prompt"), internal))
	r = s.Requests()[1]
	if r.PromptIndex != 4 || len(r.UpToPrompt()) != 3 || !r.Contains("notes") || r.Contains("the prompt") || r.EstimatedTokens < 50 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.String(), "[system user assistant(t) tool user internal]") {
		t.Error(r.String())
	}
}

func TestPrefix(t *testing.T) {
	s := New(Options{TB: t})
	marked := func(s string) obj {
		return msg("user", list{with(text(s), "cache_control", obj{"type": "ephemeral"})})
	}
	long := strings.Repeat("history ", 50)
	// The prompt is marked, as OpenClaw does; in the next request it is plain text.
	post(t, s, "anthropic", anBody(msg("user", long), msg("assistant", "one"), marked("two"), internal))
	post(t, s, "anthropic", anBody(msg("user", long), msg("assistant", "one"), msg("user", "two"), msg("assistant", "ok"), marked("three"), internal))
	post(t, s, "anthropic", anBody(msg("user", long), msg("assistant", "changed"), msg("user", "two"), msg("assistant", "ok"), marked("three"), internal))
	r := s.Requests()
	if got := PrefixShare(r[0], r[1]); got != 1 {
		t.Errorf("share %v", got)
	}
	if got := PrefixShare(r[1], r[2]); got <= 0 || got >= 1 || SharedPrefix(r[1], r[2]) != 1 {
		t.Errorf("share %v", got)
	}
	if i, a, b := FirstDifference(r[1], r[2]); i != 1 || !bytes.Contains(a, []byte("one")) || !bytes.Contains(b, []byte("changed")) {
		t.Errorf("%d %s %s", i, a, b)
	}
	if i, _, _ := FirstDifference(r[0], r[1]); i != -1 {
		t.Error(i)
	}
	if !bytes.Equal(r[0].Head(), r[1].Head()) || !bytes.Contains(r[0].Head(), []byte("be good")) {
		t.Error("heads differ")
	}
	if r[0].CachedTokens != 0 || r[0].CacheWriteTokens < 100 {
		t.Errorf("first: read %d, written %d", r[0].CachedTokens, r[0].CacheWriteTokens)
	}
	if r[1].CachedTokens != r[0].CacheWriteTokens || r[1].CacheWriteTokens <= 0 || r[1].CacheWriteTokens > 40 {
		t.Errorf("second: read %d, written %d", r[1].CachedTokens, r[1].CacheWriteTokens)
	}
	// Only the prompts were marked, so nothing before the change can be read.
	if r[2].CachedTokens != 0 {
		t.Errorf("third: read %d", r[2].CachedTokens)
	}
	// OpenAI reads any prefix of whole messages.
	post(t, s, "openai", oaBody(sys, msg("user", long), msg("assistant", "one"), msg("user", "two")))
	post(t, s, "openai", oaBody(sys, msg("user", long), msg("assistant", "changed"), msg("user", "two")))
	if r := s.Requests()[4]; r.CachedTokens < 100 || r.CachedTokens >= r.PromptTokens {
		t.Errorf("read %d of %d", r.CachedTokens, r.PromptTokens)
	}
}

func TestEstimate(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abcd": 1, "abcde": 2, "漢字": 3, "한글": 3, "😀": 2, "ab漢": 2} {
		if got := EstimateTokens(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	s := New(Options{TB: t})
	post(t, s, "openai", oaBody(msg("user", list{obj{"type": "image_url", "image_url": obj{"url": strings.Repeat("x", 900000)}}})))
	if n := s.Requests()[0].EstimatedTokens; n < imageTokens || n > imageTokens+100 {
		t.Error(n)
	}
}

func TestCustomProfile(t *testing.T) {
	var log bytes.Buffer
	s := New(Options{Log: &log, Profiles: []Profile{{Name: "tiny", API: OpenAI, Window: 50, Rules: Rules{AnyFields: true}}}})
	defer s.Close()
	if status, out := post(t, s, "tiny", with(obj{"model": "x", "messages": list{msg("user", "hi")}}, "foo", 1)); status != 200 {
		t.Errorf("%s", out)
	}
	if status, _ := post(t, s, "tiny", obj{"model": "x", "messages": list{msg("user", strings.Repeat("long ", 50))}}); status != 400 {
		t.Error("accepted")
	}
	s.Close()
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("log %q", log.String())
	}
}

// FuzzCheck: no body makes the checks or the script panic.
func FuzzCheck(f *testing.F) {
	f.Add(encode(oaBody(sys, msg("user", `THINK CALLS 2 t {"a":1}`), oaCall("c1"), oaResult("c1"), internal)))
	f.Add(encode(thinkingBody(msg("user", "x"), msg("assistant", list{thought("x"), use("x")}), msg("user", list{result("x"), text("y")}))))
	f.Add([]byte(`{"model":"m","messages":[{"role":null,"content":{}},7,[]],"tools":[{}]}`))
	profiles := Profiles()
	f.Fuzz(func(t *testing.T, body []byte) {
		for i := range profiles {
			c := &call{profile: &profiles[i]}
			_ = c.parse(body)
			_ = c.check()
			_ = c.req.UpToPrompt()
			_ = c.req.Head()
			if len(c.req.Prompt) < 200 && !longCommand.MatchString(c.req.Prompt) && !callCommand.MatchString(c.req.Prompt) {
				_ = scripted(c.req)
			}
		}
	})
}

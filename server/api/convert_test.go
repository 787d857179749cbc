package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// odd are JSON strings that encoding/json would change.
var odd = []string{`"plain"`, `"<b>&\u0000"`, `"\ud800 lone"`, `"e\u0301 \u2028"`, `"data:image/png;base64,AAAA"`, `"\/"`, `""`}

func draw[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

func drawPart(t *rapid.T) string {
	s := func(label string) string { return draw(t, label, odd...) }
	switch draw(t, "type", "text", "context", "tool", "image", "unknown") {
	case "text":
		return `{"type":"text","text":` + s("text") + `}`
	case "context":
		return `{"type":"context","uri":"viking://user/x/memories/a.md","context_type":"memory","abstract":` + s("abstract") + `}`
	case "image":
		return `{"type":"image_url","image_url":` + draw(t, "url", `"https://x/y.png"`, `{"url":"data:image/png;base64,QUJD","detail":"low"}`,
			`"data:text/plain,hello"`, `{"url":"data:;base64,"}`) + `}`
	case "unknown":
		return draw(t, "odd part", `17`, `"bare"`, `{"type":"video","src":"x"}`, `{"type":"new","text":"t"}`, `[]`, `null`)
	}
	return `{"type":"tool","tool_id":` + s("id") + `,"tool_name":` + s("name") +
		draw(t, "input", "", `,"tool_input":{}`, `,"tool_input":{"a":[1,"<"]}`, `,"tool_input":"text"`, `,"tool_input":null`) +
		draw(t, "output", "", `,"tool_output":"out\ud800"`, `,"tool_output":""`, `,"tool_output":{"n":1}`) +
		draw(t, "status", "", `,"tool_status":"completed"`, `,"tool_status":"error"`, `,"tool_status":"running"`) +
		draw(t, "more", "", `,"duration_ms":5,"skill_uri":"viking://agent/skills/x"`) + `}`
}

// Every message comes back from its host form as it was, whatever surrounds it.
func TestConversionIsReversible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want []Message
		var stored []HostMessage
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			for _, m := range drawMessages(t) {
				want = append(want, m)
				stored = append(stored, toHost(t, m)...)
			}
		}
		if diff := cmp.Diff(toJSON(t, want), toJSON(t, FromHost("s", stored))); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func drawMessages(t *rapid.T) []Message {
	body := `{"role":"` + draw(t, "role", "user", "assistant", "system") + `"` +
		draw(t, "fields", "", `,"peer_id":"kim","turn_id":"t","source_message_ids":["a"],"message_kind":"checkpoint","created_at":"long ago"`) + `,"parts":[`
	for i := range rapid.IntRange(1, 5).Draw(t, "parts") {
		if i > 0 {
			body += ","
		}
		body += drawPart(t)
	}
	list, err := parseMessage([]byte(body+"]}"), inBody(), noon)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return list
}

func toHost(t *rapid.T, m Message) []HostMessage {
	a, err := ToHost(m, noon)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ToHost(m, noon)
	if diff := cmp.Diff(a, b); diff != "" || err != nil {
		t.Fatalf("two conversions differ: %s %v", diff, err)
	}
	var out []HostMessage
	for _, e := range a {
		if !json.Valid(e.Message) {
			t.Fatalf("not JSON: %s", e.Message)
		}
		out = append(out, HostMessage{Seq: int64(len(out) + 1), Time: noon, Raw: e.Message})
	}
	return out
}

func toJSON(t *rapid.T, list []Message) []string {
	var out []string
	for _, m := range list {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// A host's own turns have their nearest form, the same id at every read, and cannot do harm.
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"role":"user","content":"plain"}`: `user text:plain`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"toolCall","id":"c","name":"ls","arguments":{"p":1}}]}`: `assistant text:ok tool:ls`,
		`{"role":"toolResult","toolCallId":"c","toolName":"ls","isError":true,"content":[{"type":"text","text":"no"}]}`:                                                 `user tool:ls`,
		`17`: `system text:17`,
		`{"role":"user","content":[],"openviking":{"id":"x","index":-1,"part":{"a":1}}}`:               `user tool:`,
		`{"role":"user","content":[],"openviking":{"id":"x","index":9223372036854775807,"part":null}}`: `user`,
	} {
		in := []HostMessage{{Seq: 1, Time: noon, Raw: json.RawMessage(raw)}}
		a, b := FromHost("s", in), FromHost("s", in)
		if len(a) != 1 || a[0].ID != b[0].ID || a[0].ID == "" {
			t.Fatalf("%s: %v", raw, a)
		}
		got := a[0].Role
		for _, p := range a[0].Parts {
			got += " " + p.text("type") + ":" + p.text("text") + p.text("tool_name")
		}
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", raw, got, want)
		}
	}
}

func TestPolicyIsClamped(t *testing.T) {
	t.Parallel()
	change, err := parseAutoCommit(json.RawMessage(`{"keep_recent_count":-5,"idle_timeout_seconds":99999999}`), inBody())
	p := change.Apply(nil)
	want := &AutoCommitPolicy{PendingTokens: 150_000, Messages: 100, IdleSeconds: 604_800}
	if diff := cmp.Diff(want, p); diff != "" || err != nil {
		t.Errorf("%s %v", diff, err)
	}
	for _, raw := range []string{`{"x":1}`, `{"keep_recent_count":null}`, `[]`, `{"keep_recent_count":"1"}`} {
		if _, err := parseAutoCommit(json.RawMessage(raw), inBody()); err == nil {
			t.Errorf("%s is accepted", raw)
		}
	}
}

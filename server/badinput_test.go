package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skald-engine/skald/server/servertest"
)

// Bad input of every sort is a clear error with the field at fault, and nothing is stored by half.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const messages, batch = "/api/v1/sessions/s/messages", "/api/v1/sessions/s/messages/batch"
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		loc                  string // of the first validation error
	}{
		"no JSON":           {"POST", messages, `{"role":`, 400, "body"},
		"empty body":        {"POST", messages, ``, 400, "body"},
		"a list":            {"POST", messages, `[]`, 400, "body"},
		"no role":           {"POST", messages, `{"content":"x"}`, 400, "body.role"},
		"role of a number":  {"POST", messages, `{"role":1,"content":"x"}`, 400, "body.role"},
		"no content":        {"POST", messages, `{"role":"user"}`, 400, "body.content"},
		"empty content":     {"POST", messages, `{"role":"user","content":""}`, 400, "body.content"},
		"null content":      {"POST", messages, `{"role":"user","content":null,"parts":[]}`, 400, "body.content"},
		"content object":    {"POST", messages, `{"role":"user","content":{}}`, 400, "body.content"},
		"broken UTF-8":      {"POST", messages, "{\"role\":\"user\",\"content\":\"\xff\"}", 400, "body"},
		"too deep":          {"POST", messages, `{"role":"user","parts":[{"tool_input":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}]}`, 400, "body"},
		"bad peer":          {"POST", messages, `{"role":"user","content":"x","peer_id":"../x"}`, 400, "body.peer_id"},
		"bad kind":          {"POST", messages, `{"role":"user","content":"x","message_kind":"y"}`, 400, "body.message_kind"},
		"empty image":       {"POST", messages, `{"role":"user","parts":[{"type":"image_url","image_url":""}]}`, 400, "body.parts.0.image_url"},
		"bad status":        {"POST", messages, `{"role":"user","parts":[{"type":"tool","tool_status":"x"}]}`, 400, "body.parts.0.tool_status"},
		"context, no uri":   {"POST", messages, `{"role":"user","parts":[{"type":"context"}]}`, 400, "body.parts.0.uri"},
		"second of a batch": {"POST", batch, `{"messages":[{"role":"user","content":"x"},{"role":"user"}]}`, 400, "body.messages.1.content"},
		"no messages":       {"POST", batch, `{}`, 400, "body.messages"},
		"too many":          {"POST", batch, `{"messages":[` + strings.Repeat("{},", 100) + `{}]}`, 400, "body.messages"},
		"id with dots":      {"POST", "/api/v1/sessions/%2e%2e/messages", `{"role":"user","content":"x"}`, 400, "path.session_id"},
		"id with a slash":   {"POST", "/api/v1/sessions/a%2Fb/messages", `{"role":"user","content":"x"}`, 400, "path.session_id"},
		"id with a NUL":     {"POST", "/api/v1/sessions/a%00/messages", `{"role":"user","content":"x"}`, 400, "path.session_id"},
		"id too long":       {"GET", "/api/v1/sessions/" + strings.Repeat("x", 129), ``, 400, "path.session_id"},
		"dots in the path":  {"GET", "/api/v1/sessions/../tasks", ``, 400, ""},
		"empty id":          {"GET", "/api/v1/sessions//context", ``, 400, ""},
		"new id with dots":  {"POST", "/api/v1/sessions", `{"session_id":".."}`, 400, "body.session_id"},
		"bad policy":        {"POST", "/api/v1/sessions", `{"auto_commit_policy":{"x":1}}`, 400, "body.auto_commit_policy.x"},
		"huge budget":       {"GET", "/api/v1/sessions/s/context?token_budget=99999999999999999999", ``, 400, "query.token_budget"},
		"keep too many":     {"POST", "/api/v1/sessions/s/commit", `{"keep_recent_count":10001}`, 400, "body.keep_recent_count"},
		"turns, no mode":    {"POST", "/api/v1/sessions/s/commit", `{"keep_recent_turn_count":1}`, 400, "body.keep_recent_turn_count"},
		"negative limit":    {"POST", "/api/v1/search/find", `{"query":"x","limit":-1}`, 400, "body.limit"},
		"huge limit":        {"POST", "/api/v1/search/find", `{"query":"x","limit":1e99}`, 400, "body.limit"},
		"task limit":        {"GET", "/api/v1/tasks?limit=201", ``, 400, "query.limit"},
		"node limit":        {"GET", "/api/v1/fs/ls?uri=viking://&node_limit=0", ``, 400, "query.node_limit"},
		"bad boolean":       {"GET", "/api/v1/sessions/s?auto_create=maybe", ``, 400, "query.auto_create"},
		"NUL in a uri":      {"GET", "/api/v1/fs/stat?uri=viking://user/default/%00", ``, 403, ""},
		"coded dots":        {"GET", "/api/v1/fs/stat?uri=viking://user/%252e%252e/x", ``, 403, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, &servertest.Fake{}, nil)
			w := ask(s, c.method, c.target, c.body)
			var a struct {
				Status string
				Error  struct {
					Code, Message string
					Details       struct {
						Issues []struct{ Loc []string } `json:"validation_errors"`
					}
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != c.status || a.Status != "error" || a.Error.Message == "" {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			loc := ""
			if len(a.Error.Details.Issues) > 0 {
				loc = strings.Join(a.Error.Details.Issues[0].Loc, ".")
			}
			if loc != c.loc {
				t.Errorf("loc %q, want %q: %s", loc, c.loc, w.Body)
			}
			if w := ask(s, "GET", "/api/v1/sessions", ""); !strings.Contains(w.Body.String(), `"result":[]`) {
				t.Errorf("something was stored: %s", w.Body)
			}
		})
	}
}

// A message of 50 MB is stored.
func TestHugeMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("50 MB take long under -race")
	}
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, nil)
	text := strings.Repeat("x", 50<<20)
	if w := ask(s, "POST", "/api/v1/sessions/s/messages", `{"role":"user","content":"`+text+`"}`); w.Code != 200 {
		t.Errorf("%d %.200s", w.Code, w.Body)
	}
}

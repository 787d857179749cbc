package backend_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/skald-engine/skald/server/api"
)

// tool is a message of an assistant that called tools which gave these outputs.
func tool(outputs ...string) string {
	parts := []object{{"type": "text", "text": "let me see"}}
	for i, out := range outputs {
		parts = append(parts, object{"type": "tool", "tool_id": fmt.Sprintf("call/%d", i), "tool_name": "cat", "tool_status": "completed",
			"tool_input": object{"n": i}, "tool_output": out})
	}
	b, _ := json.Marshal(object{"role": "assistant", "parts": parts})
	return string(b)
}

// parts are the tool parts of a context.
func (o object) tools() (out []object) {
	for _, m := range o["messages"].([]any) {
		for _, p := range m.(map[string]any)["parts"].([]any) {
			if p := p.(map[string]any); p["type"] == "tool" {
				out = append(out, p)
			}
		}
	}
	return out
}

// A long result is a stub in the context and in the archive, whole by its id, and untouched in the store.
func TestLongResults(t *testing.T) {
	t.Parallel()
	d := start(t)
	long := "first needle\nERROR: disk full\n" + strings.Repeat("x", 30_000) + " needle " + strings.Repeat("é", 100)
	d.say("s", "user", "what is in the file?")
	d.post("/api/v1/sessions/s/messages", tool("short", long))
	stub := d.context("s", "").tools()[1]
	text := stub["tool_output"].(string)
	ref := stub["tool_output_ref"].(string)
	d.has("stub", text, "first needle", "ééé", "original_chars: 30138", ref, "notable: ERROR: disk full")
	if len(text) > 4000 {
		t.Errorf("stub of %d bytes", len(text))
	}
	d.same("marks", []any{stub["tool_output_truncated"], stub["tool_output_original_chars"], stub["tool_output_externalized_reason"], stub["tool_output_storage_uri"]},
		[]any{true, 30138, "single_threshold", ref})
	d.same("short", d.context("s", "").tools()[0]["tool_output"], "short")
	d.same("input", fmt.Sprint(stub["tool_input"]), "map[n:1]")

	list := d.get("/api/v1/sessions/s/tool-results")["tool_results"].([]any)
	if len(list) != 1 {
		t.Fatal(list)
	}
	meta := list[0].(map[string]any)
	id := meta["tool_result_id"].(string)
	d.same("ref", ref, "viking://user/ann/sessions/s/tool-results/"+id)
	d.has("id", id, "tr_call_1_")
	d.same("meta", []any{meta["tool_name"], meta["tool_id"], meta["session_id"], meta["user_id"], meta["peer_id"], meta["offset_unit"], meta["mime_type"]},
		[]any{"cat", "call/1", "s", "ann", nil, "unicode_code_point", "text/plain"})
	d.same("other tool", d.get("/api/v1/sessions/s/tool-results?tool_name=ls")["tool_results"], []any{})

	read := d.get("/api/v1/sessions/s/tool-results/" + id + "?limit=-1&include_metadata=false")
	d.same("whole", []any{read["content"] == long, read["has_more"], read["total_chars"], read["metadata"]}, []any{true, false, 30138, nil})
	turns, err := d.engine.ListTurns(t.Context(), ann, "s", 4, 4)
	if err != nil || !strings.Contains(string(turns[0].Raw), strings.Repeat("x", 30_000)) {
		t.Error("the turn does not hold the whole", err)
	}
	d.commit("s", "")
	d.jobs()
	d.has("archive", d.get("/api/v1/sessions/s/archives/archive_001").tools()[1]["tool_output"].(string), ref)
	d.same("after the commit", len(d.get("/api/v1/sessions/s/tool-results")["tool_results"].([]any)), 1)
	ask[object](d, "DELETE", "/api/v1/sessions/s", "")
	d.fails(404, "GET", "/api/v1/sessions/s/tool-results/"+id, "")
}

func TestReadAndSearchResults(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.post("/api/v1/sessions/s/messages", tool("äb needle cd needle needleneedle é"+strings.Repeat("z", 20_000)))
	id := d.get("/api/v1/sessions/s/tool-results")["tool_results"].([]any)[0].(map[string]any)["tool_result_id"].(string)
	base := "/api/v1/sessions/s/tool-results/" + id
	for query, want := range map[string][]any{
		"?offset=0&limit=4":     {"äb n", true},
		"?offset=3&limit=6":     {"needle", true},
		"?offset=99999&limit=5": {"", false},
		"?limit=0":              {"", true},
		"?offset=20033":         {"z", false},
		"?offset=20034":         {"", false},
	} {
		got := d.get(base + query)
		d.same(query, []any{got["content"], got["has_more"]}, want)
	}
	matches := func(query string) (out []string) {
		t.Helper()
		for _, m := range d.get(base + "/search?" + query)["matches"].([]any) {
			m := m.(map[string]any)
			out = append(out, fmt.Sprint(m["offset"], " ", m["snippet"]))
		}
		return out
	}
	d.same("matches", strings.Join(matches("q=needle&context_chars=3"), "|"), "3 äb needle cd|13 cd needle ne|20 le needlenee|26 dleneedle éz")
	d.same("limit", strings.Join(matches("q=needle&context_chars=0&limit=2"), "|"), "3 needle|13 needle")
	d.same("not overlapping", len(matches("q=zz&limit=100000&context_chars=0")), 10_000)
	d.same("case", len(matches("q=Needle")), 0)
	d.same("code points", strings.Join(matches("q="+url.QueryEscape("é")+"&context_chars=1"), "|"), "33  éz")

	for path, part := range map[string]string{
		base + "?offset=-1":                        "query.offset",
		base + "?limit=-2":                         "limit must be -1 or greater than or equal to 0",
		base + "?limit=x":                          "query.limit",
		base + "?include_metadata=maybe":           "query.include_metadata",
		base + "/search":                           "query.q: Field required",
		base + "/search?q=":                        "query.q: String should have at least 1 character",
		base + "/search?q=x&limit=0":               "query.limit",
		base + "/search?q=x&context_chars=-1":      "query.context_chars",
		"/api/v1/sessions/s/tool-results?limit=0":  "query.limit",
		"/api/v1/sessions/s/tool-results/bad%20id": "Invalid tool_result_id",
		"/api/v1/sessions/s/tool-results/x":        "Invalid tool_result_id",
	} {
		d.has(path, d.fails(400, "GET", path, ""), "INVALID_ARGUMENT", part)
	}
	d.has("unknown", d.fails(404, "GET", "/api/v1/sessions/s/tool-results/tr_none", ""), "NOT_FOUND")
	d.fails(404, "GET", "/api/v1/sessions/none/tool-results", "")
	d.fails(404, "GET", "/api/v1/sessions/none/tool-results/tr_x", "")
	d.as("key-bob").fails(404, "GET", base, "")
}

// Many results of one step are shown whole up to a budget; the largest become stubs first.
func TestResultsShareABudget(t *testing.T) {
	t.Parallel()
	d := start(t)
	var outputs []string
	for i := range 8 {
		outputs = append(outputs, strings.Repeat(fmt.Sprint(i), 12_500+100*i))
	}
	d.post("/api/v1/sessions/s/messages", tool(outputs...))
	whole, kept := 0, ""
	for i, p := range d.context("s", "").tools() {
		if p["tool_output_truncated"] == nil {
			whole += len(p["tool_output"].(string))
			kept += fmt.Sprint(i)
		} else {
			d.same("reason", p["tool_output_externalized_reason"], "turn_budget")
		}
	}
	d.same("kept", kept, "0123456")
	if whole > 100_000 {
		t.Errorf("%d characters whole", whole)
	}
	// A user's aggregate of results is one step too, whichever messages it became.
	parts := []object{}
	for i, out := range outputs {
		parts = append(parts, object{"type": "tool", "tool_id": fmt.Sprint("u", i), "tool_name": "cat", "tool_status": "completed", "tool_output": out})
	}
	b, _ := json.Marshal(object{"role": "user", "parts": parts})
	d.same("split", d.post("/api/v1/sessions/u/messages", string(b))["message_count"], 8)
	d.same("list", len(d.get("/api/v1/sessions/u/tool-results")["tool_results"].([]any)), 1)
}

// A long result costs the context no more than its stub: older messages find room beside it.
func TestStubsLeaveRoom(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 10)
	d.say("s", "user", "show me")
	d.post("/api/v1/sessions/s/messages", tool(strings.Repeat("word ", 20_000)))
	c := d.context("s", "?token_budget=4000")
	d.same("messages", c.count(), 12)
	if n := c["estimatedTokens"].(float64); n > 4000 || n < 500 {
		t.Errorf("estimated %v", n)
	}
	d.back.Limit(api.ResultLimits{Off: true})
	d.lacks("off", fmt.Sprint(d.context("s", "").tools()), "tool_output_ref")
	d.same("off", d.get("/api/v1/sessions/s/tool-results")["tool_results"], []any{})
}

package backend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	skald "github.com/skald-engine/skald"
)

// find returns the answer to a search as text.
func (d daemon) find(query string) string {
	d.Helper()
	return fmt.Sprint(d.post("/api/v1/search/find", fmt.Sprintf(`{"query":%q}`, query)))
}

func TestStatAgreesWithTheTree(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.remember(ann, "The staging cluster is called heron.", "entities")
	d.say("s", "user", "I prefer green tea.")
	d.talk("s", 2, 5)
	d.commit("s", "")
	d.jobs()
	tree := ask[[]object](d, "GET", "/api/v1/fs/tree?uri=viking://&level_limit=6&show_all_hidden=true&output=original", "")
	if len(tree) < 12 {
		t.Fatalf("%d entries: %v", len(tree), tree)
	}
	for _, f := range tree {
		uri := f["uri"].(string)
		if uri == "viking://user" || uri == "viking://agent" { // names of the caller's own space
			continue
		}
		stat := d.get("/api/v1/fs/stat?uri=" + uri)
		d.same(uri, []any{stat["uri"], stat["name"], stat["isDir"], stat["size"]}, []any{uri, f["name"], f["isDir"], f["size"]})
		if f["isDir"] == false {
			ask[string](d, "GET", "/api/v1/content/read?uri="+uri, "")
		}
	}
	d.same("turns", d.get("/api/v1/fs/stat?uri=viking://session/s/turns/1-2")["isDir"], false)
	d.has("turns", ask[string](d, "GET", "/api/v1/content/read?uri=viking://~/sessions/s/turns/1", ""), "green tea")
	for _, uri := range []string{"viking://session/none", "viking://session/s/history/archive_009", "viking://session/s/turns/99",
		"viking://session/s/nothing", "viking://user/memories/none.md", "viking://resources/x", "viking://session/s/history/archive_001/x"} {
		d.fails(404, "GET", "/api/v1/fs/stat?uri="+uri, "")
	}
	d.fails(403, "GET", "/api/v1/fs/stat?uri=viking://user/bob", "")
	d.fails(403, "GET", "/api/v1/fs/stat?uri=viking://user/../bob", "")
	d.fails(400, "GET", "/api/v1/fs/stat?uri=viking://nowhere/x", "")
}

func TestContent(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 6)
	d.commit("s", "")
	const dir = "?uri=viking://~/sessions/s/history/archive_001"
	read := func(path string) string { return ask[string](d, "GET", "/api/v1/content/"+path, "") }
	d.has("messages before phase 2", read("read"+dir+"/messages.jsonl"), "Message 1:", "Message 6:")
	d.jobs()
	d.has("overview", read("overview"+dir), "archive_001", "Lisbon")
	d.has("abstract", read("abstract"+dir), "Lisbon")
	d.has("placeholder", read("overview?uri=viking://user/memories"), "not ready")
	d.fails(404, "GET", "/api/v1/content/read?uri=viking://user/memories/none.md", "")
	d.fails(400, "GET", "/api/v1/content/read?uri=viking://user/memories", "")
}

// API-07: only a full name removes, and what is removed is gone from search.
func TestRemove(t *testing.T) {
	t.Parallel()
	d := start(t)
	heron := d.remember(ann, "The staging cluster is called heron.", "entities")
	d.remember(ann, "The production cluster is called osprey.", "entities")
	rm := func(uri string) any {
		t.Helper()
		return ask[object](d, "DELETE", "/api/v1/fs?uri="+uri, "")["estimated_deleted_count"]
	}
	d.has("before", d.find("heron"), "heron")
	d.same("a prefix", rm(strings.TrimSuffix(heron, ".md")[:len(heron)-5]), 0)
	d.same("unknown", rm("viking://user/ann/memories/entities/unknown.md"), 0)
	d.has("still there", d.find("heron"), "heron")
	d.same("valid", rm(heron), 1)
	d.lacks("gone", d.find("heron"), "heron")
	d.fails(404, "GET", "/api/v1/fs/stat?uri="+heron, "")
	d.fails(404, "GET", "/api/v1/content/read?uri="+heron, "")
	d.same("again", rm(heron), 0)
	d.has("the other one", d.find("osprey"), "osprey")

	// The same through the tool that models have.
	forget := func(uri string) skald.Kind {
		r := skald.ToolRequest{Tool: "memory_forget", Args: json.RawMessage(fmt.Sprintf(`{"uri":%q}`, uri))}
		r.Identity = ann
		answer, err := d.engine.Tool(context.Background(), r)
		if err == nil && answer.IsError {
			return skald.Kind(answer.Text)
		}
		return skald.KindOf(err)
	}
	for _, uri := range []string{heron, "a1"} {
		if kind := forget(uri); kind == "" {
			t.Errorf("memory_forget of %s succeeded", uri)
		}
	}
}

// What the turns behind a memory said is gone too: from search, grep and the context.
func TestRemoveTakesTheSourcesOut(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.say("s", "user", "I prefer the zebra wallpaper.")
	d.say("s", "assistant", "Noted.")
	d.commit("s", "")
	d.jobs()
	list := ask[[]string](d, "GET", "/api/v1/fs/ls?simple=true&recursive=true&uri=viking://user/memories/preferences", "")
	if len(list) != 1 {
		t.Fatal(list)
	}
	ask[object](d, "DELETE", "/api/v1/fs?uri="+list[0], "")
	d.lacks("find", d.find("zebra wallpaper"), "zebra")
	d.lacks("grep", fmt.Sprint(d.grep(`{"uri":"viking://","pattern":"zebra"}`)), "wallpaper")
	d.lacks("context", fmt.Sprint(d.context("s", "")), "zebra")
	d.same("session", d.get("/api/v1/sessions/s")["memories_extracted"].(map[string]any)["total"], 0)
	d.has("readable by name", ask[string](d, "GET", "/api/v1/content/read?uri=viking://session/s/turns/1", ""), "zebra")
}

// IDN-05.
func TestRemoveAllOfOneUser(t *testing.T) {
	t.Parallel()
	d := start(t)
	bob := skald.Identity{Account: "acme", User: "bob", Agent: "main"}
	for i := range 3 {
		d.remember(ann, fmt.Sprintf("Ann keeps the lighthouse key number %d.", i*37), "entities")
	}
	for i := range 2 {
		d.remember(bob, fmt.Sprintf("Bob paints the lighthouse door number %d.", i*41), "entities")
	}
	count := func(d daemon) int {
		return len(ask[[]string](d, "GET", "/api/v1/fs/ls?simple=true&recursive=true&uri=viking://user/memories/entities", ""))
	}
	of := d.as("key-bob")
	before := count(of)
	d.fails(400, "DELETE", "/api/v1/fs", "")
	d.fails(400, "DELETE", "/api/v1/fs?recursive=true", "")
	d.fails(400, "DELETE", "/api/v1/fs?uri=viking://user/memories", "") // a folder, without recursive
	d.fails(403, "DELETE", "/api/v1/fs?recursive=true&uri=viking://user/bob/memories", "")
	d.fails(403, "DELETE", "/api/v1/fs?recursive=true&uri=viking://", "")
	d.fails(403, "DELETE", "/api/v1/fs?recursive=true&uri=viking://user/ann", "")
	ask[object](d, "DELETE", "/api/v1/fs?recursive=true&uri=viking://user/memories", "")
	d.same("ann lists", ask[[]any](d, "GET", "/api/v1/fs/ls?uri=viking://user/memories", ""), []any{})
	d.lacks("ann finds", d.find("lighthouse"), "lighthouse")
	d.same("bob lists", count(of), before)
	d.has("bob finds", of.find("lighthouse door"), "Bob paints")
}

// A session goes as a whole: what is in it does not go alone.
func TestRemoveSession(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	d.talk("other", 1, 4)
	d.commit("s", "")
	for _, uri := range []string{"viking://session/s/history/archive_001", "viking://session/s/messages.jsonl", "viking://session/s/turns/1"} {
		d.fails(501, "DELETE", "/api/v1/fs?recursive=true&uri="+uri, "")
	}
	d.same("still there", d.get("/api/v1/sessions/s/archives/archive_001").count(), 4)
	d.fails(400, "DELETE", "/api/v1/fs?uri=viking://session/s", "")
	done := ask[object](d, "DELETE", "/api/v1/fs?recursive=true&uri=viking://session/s", "")
	d.same("one went", done["estimated_deleted_count"], 1)
	d.fails(404, "GET", "/api/v1/sessions/s", "")
	d.fails(404, "GET", "/api/v1/fs/stat?uri=viking://session/s", "")
	ask[object](d, "DELETE", "/api/v1/fs?recursive=true&uri=viking://~/sessions", "")
	d.same("all", ask[[]any](d, "GET", "/api/v1/fs/ls?uri=viking://~/sessions", ""), []any{})
}

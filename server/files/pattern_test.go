package files_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestGrepFiles(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	d.post("/api/v1/content/batch-write", object{"root_uri": "viking://resources/birds", "operations": []object{
		{"uri": "viking://resources/birds/x.bin", "content_base64": "ZGF3bv8="}}})
	d.write("viking://~/memories/events/dawn.md", "Ann saw a heron at dawn")
	grep := func(body object) object { d.Helper(); return d.post("/api/v1/search/grep", body) }
	uris := func(found object) (out []string) {
		for _, m := range found["matches"].([]any) {
			out = append(out, fmt.Sprint(m.(object)["uri"], ":", m.(object)["line"]))
		}
		return out
	}
	d.same("everywhere", uris(grep(object{"uri": "viking://", "pattern": "dawn"})),
		[]string{"viking://resources/birds/heron.md:2", "viking://user/ann/memories/events/dawn.md:1"})
	d.same("case", uris(grep(object{"uri": "viking://resources", "pattern": "GREY", "case_insensitive": true})),
		[]string{"viking://resources/birds/heron.md:1"})
	d.same("exclude", uris(grep(object{"uri": "viking://resources", "pattern": "at", "exclude_uri": "viking://resources/birds"})),
		[]string{"viking://resources/top.txt:1"})
	d.same("one file", uris(grep(object{"uri": "viking://resources/top.txt", "pattern": "top$"})), []string{"viking://resources/top.txt:1"})
	d.same("level", uris(grep(object{"uri": "viking://resources", "pattern": "dots|top", "level_limit": 1})),
		[]string{"viking://resources/top.txt:1"})
	cut := grep(object{"uri": "viking://resources", "pattern": ".", "node_limit": 2})
	d.same("limit", []any{cut["count"], cut["truncated"]}, []any{2.0, true})
	d.same("no limit", grep(object{"uri": "viking://resources", "pattern": ".", "node_limit": nil})["truncated"], false)
	d.post("/api/v1/content/set_tags", object{"uri": "viking://resources/birds/heron.md", "tags": []string{"a=b"}})
	beside := grep(object{"uri": "viking://resources", "pattern": "dawn|top", "tags": []string{"A=b"}, "include_tags": true,
		"before_context": 1, "after_context": 5})
	d.same("beside", beside["matches"], []any{object{"uri": "viking://resources/birds/heron.md", "line": 2.0, "content": "fishes at dawn",
		"tags":           []any{"a=b"},
		"before_context": []any{object{"line": 1.0, "content": "# Grey heron"}}, "after_context": []any{object{"line": 3.0,
			"content": "sleeps at noon"}}}})
	for body, status := range map[string]int{`{"uri":"viking://resources","pattern":"x","before_context":-1}`: 400,
		`{"uri":"viking://resources/none","pattern":"x"}`: 404, `{"uri":"viking://resources","pattern":"("}`: 400,
		`{"uri":"viking://resources"}`: 400, `{"pattern":"x"}`: 400, `{"uri":"viking://resources","pattern":"x","node_limit":0}`: 400,
		`{"uri":"viking://resources","pattern":"x","exclude_uri":"nowhere"}`: 400, `{"uri":"viking://resources","pattern":"(x{1000}){1000}"}`: 400} {
		d.fails(status, "", "POST", "/api/v1/search/grep", body)
	}
	d.write("viking://resources/long.txt", strings.Repeat("a", 1<<20)+"\n")
	started := time.Now()
	grep(object{"uri": "viking://resources/long.txt", "pattern": "(a*)*(a|aa)+b"})
	t.Log("an evil pattern over 1 MB took", time.Since(started))
	if line := jsonOf(t, grep(object{"uri": "viking://resources/long.txt", "pattern": "a"})); len(line) > 5000 {
		t.Error("a line is shown whole: bytes", len(line))
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	d.write("viking://resources/birds/.hidden.md", "x")
	glob := func(uri, pattern string) (out []string) {
		d.Helper()
		for _, m := range d.post("/api/v1/search/glob", object{"uri": uri, "pattern": pattern})["matches"].([]any) {
			out = append(out, strings.TrimPrefix(m.(string), "viking://"))
		}
		return out
	}
	d.same("one level", glob("viking://resources", "*"), []string{"resources/birds/", "resources/top.txt"})
	d.same("all", len(glob("viking://resources", "**")), 7)
	d.same("markdown", glob("viking://", "**/heron.md"), []string{"resources/birds/heron.md"})
	d.same("fixed part", glob("viking://resources", "birds/notes/*b*"), []string{"resources/birds/notes/a b.md"})
	d.same("either", glob("viking://resources/birds", "{heron,egret}.md"), []string{"resources/birds/heron.md"})
	d.same("one character", glob("viking://resources", "to?.txt"), []string{"resources/top.txt"})
	d.same("none", glob("viking://resources", "none/**"), []string(nil))
	found := d.post("/api/v1/search/glob", object{"pattern": "resources/**", "node_limit": 1})
	d.same("limit", []any{found["count"], found["truncated"]}, []any{1.0, true})
	d.post("/api/v1/content/set_tags", object{"uri": "viking://resources/top.txt", "tags": []string{"a=b"}})
	d.same("tags", glob("viking://resources", "**"), []string{"resources/birds/", "resources/birds/heron.md", "resources/birds/notes/",
		"resources/birds/notes/a b.md", "resources/birds/notes/grüße-你好.md", "resources/birds/notes/v1.2.final.md", "resources/top.txt"})
	tagged := d.post("/api/v1/search/glob", object{"uri": "viking://resources", "pattern": "**", "tags": []string{"a=b"},
		"include_tags": true})
	d.same("with tags", tagged["matches"].([]any)[0].(object)["tags"], []any{"a=b"})
	d.same("only these", tagged["count"], 1)
	for body, status := range map[string]int{`{"pattern":"["}`: 400, `{"pattern":" "}`: 400,
		`{"pattern":"*","uri":"viking://resources/none"}`:    404,
		`{"pattern":"*","uri":"viking://resources/top.txt"}`: 400, `{"pattern":"*","node_limit":0}`: 400} {
		d.fails(status, "", "POST", "/api/v1/search/glob", body)
	}
}

package files_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// what every test of reading begins with.
func library(d daemon) {
	d.Helper()
	d.post("/api/v1/fs/mkdir", object{"uri": "viking://resources/birds", "description": "All about herons"})
	d.write("viking://resources/birds/heron.md", "# Grey heron\nfishes at dawn\nsleeps at noon\n")
	d.write("viking://resources/birds/notes/a b.md", "spaces in names")
	d.write("viking://resources/birds/notes/v1.2.final.md", "dots")
	d.write("viking://resources/birds/notes/grüße-你好.md", "not ASCII")
	d.write("viking://resources/top.txt", "at the top")
	d.write("viking://user/ann/persona.md", "I am careful")
}

func TestList(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	d.same("simple", d.ls("viking://resources"), []string{"viking://resources/birds", "viking://resources/top.txt"})
	d.same("names", d.ls("viking://resources/birds/notes"), []string{"viking://resources/birds/notes/a b.md",
		"viking://resources/birds/notes/grüße-你好.md", "viking://resources/birds/notes/v1.2.final.md"})
	d.same("sorted", d.ls("viking://resources", "&sort_by=name&sort_order=desc")[0], "viking://resources/top.txt")
	d.same("recursive", len(d.ls("viking://resources", "&recursive=true")), 7)
	d.same("hidden", d.ls("viking://resources/birds", "&show_all_hidden=true")[0], "viking://resources/birds/.abstract.md")
	d.same("own space", d.ls("viking://user"), []string{"viking://user/ann"})
	d.same("root", d.ls("viking://"), []string{"viking://agent", "viking://resources", "viking://user"})
	d.same("agents", d.ls("viking://agent"), []string{"viking://agent/main", "viking://agent/skills"})

	tree := ask[[]object](d, "GET", "/api/v1/fs/tree?uri=viking://resources", "")
	d.same("rel_path", tree[1]["rel_path"], "birds/heron.md")
	d.same("abstract of a folder", tree[0]["abstract"], "All about herons")
	d.same("abstract of a file", tree[1]["abstract"], "Grey heron")
	d.same("level_limit", len(ask[[]object](d, "GET", "/api/v1/fs/tree?uri=viking://resources&level_limit=1", "")), 2)
	original := ask[[]object](d, "GET", "/api/v1/fs/ls?uri=viking://resources&output=original", "")
	d.same("original", original[1], object{"name": "top.txt", "size": 10.0, "mode": 420.0, "modTime": "2026-03-02T09:00:00Z",
		"isDir": false,
		"uri":   "viking://resources/top.txt"})
	_, text := d.call("GET", "/api/v1/fs/ls?uri=viking://resources&limit=1", "")
	d.has("limit", text, `"has_more":true`, "birds")
	_, text = d.call("GET", "/api/v1/fs/ls?uri=viking://resources&limit=2", "")
	d.has("limit", text, `"has_more":false`)

	d.same("offset", d.ls("viking://resources", "&offset=1"), []string{"viking://resources/top.txt"})
	d.same("beyond", d.ls("viking://resources", "&offset=9"), []string{})
	d.same("folders", len(ask[[]object](d, "GET", "/api/v1/fs/tree?uri=viking://resources&directories_only=true", "")), 2)
	d.post("/api/v1/content/set_tags", object{"uri": "viking://resources/top.txt", "tags": []string{"a=b", "c=d"}})
	d.same("tags", d.ls("viking://resources", "&recursive=true&tags=a=b&tags=c=d"), []string{"viking://resources/top.txt"})
	d.same("shown", ask[[]object](d, "GET", "/api/v1/fs/ls?uri=viking://resources&include_tags=true&output=original", "")[1]["tags"],
		[]any{"a=b", "c=d"})
	more := ask[[]object](d, "GET", "/api/v1/fs/ls?uri=viking://resources&include_abstract=false&include_overview=true", "")[0]
	if _, shown := more["abstract"]; shown || more["overview"] == nil {
		t.Errorf("%v", more)
	}
	for uri, status := range map[string]int{"viking://resources/none": 404, "viking://resources/top.txt": 400, "viking://user/bob": 403,
		"viking://resources/../x": 403, "viking://temp": 400, "": 400} {
		d.fails(status, "", "GET", "/api/v1/fs/ls?uri="+uri, "")
	}
	for _, option := range []string{"output=x", "sort_by=size", "limit=0", "abs_limit=-1", "simple=perhaps"} {
		d.fails(400, "INVALID_ARGUMENT", "GET", "/api/v1/fs/ls?uri=viking://resources&"+option, "")
	}
}

func TestStatAndAttrs(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	d.same("file", ask[object](d, "GET", "/api/v1/fs/stat?uri=viking://resources/top.txt", ""), object{"uri": "viking://resources/top.txt",
		"name": "top.txt", "size": 10.0, "mode": 420.0, "modTime": "2026-03-02T09:00:00Z", "isDir": false, "isLocked": false})
	for _, uri := range []string{"viking://", "viking://resources", "viking://user/ann/memories", "viking://~/sessions",
		"viking://agent/skills"} {
		d.same(uri, ask[object](d, "GET", "/api/v1/fs/stat?uri="+uri, "")["isDir"], true)
	}
	d.same("attrs", ask[object](d, "GET", "/api/v1/fs/attrs?uri=viking://resources/top.txt", ""),
		object{"uri": "viking://resources/top.txt",
			"context_type": "resource", "attrs": object{"tags": []any{}}})
	d.write("viking://user/ann/memories/preferences/tea.md", "I like green tea")
	memory := ask[object](d, "GET", "/api/v1/fs/attrs?uri=viking://~/memories/preferences/tea.md", "")
	d.same("type", memory["context_type"], "memory")
	d.same("memory", memory["attrs"].(object)["memory"].(object)["memory_type"], "preferences")
	d.fails(404, "NOT_FOUND", "GET", "/api/v1/fs/attrs?uri=viking://resources/none", "")
	d.fails(404, "NOT_FOUND", "GET", "/api/v1/fs/stat?uri=viking://resources/none", "")
	d.fails(403, "PERMISSION_DENIED", "GET", "/api/v1/fs/stat?uri=viking://user/bob/persona.md", "")
}

// Nobody sees another's space; resources are the account's, and another account has its own.
func TestTenants(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	bob, eve := d.as("key-bob"), d.as("key-eve")
	d.same("shared", bob.read("viking://resources/top.txt"), "at the top")
	d.same("own", bob.ls("viking://~"), []string{})
	for _, other := range []daemon{bob, eve} {
		other.write("viking://user/"+map[string]string{"key-bob": "bob", "key-eve": "ann"}[other.key]+"/persona.md", "mine")
	}
	d.same("ann's own", d.read("viking://~/persona.md"), "I am careful")
	d.same("another account", eve.ls("viking://resources"), []string{})
	eve.fails(404, "NOT_FOUND", "GET", "/api/v1/content/read?uri=viking://resources/top.txt", "")
	for _, call := range [][2]string{{"/api/v1/content/write", `{"uri":"viking://user/ann/x.md","content":"x"}`},
		{"/api/v1/fs/mkdir", `{"uri":"viking://user/ann/x"}`}, {"/api/v1/content/set_tags",
			`{"uri":"viking://user/ann/persona.md","tags":["a=b"]}`},
		{"/api/v1/fs/mv", `{"from_uri":"viking://user/ann/persona.md","to_uri":"viking://resources/p.md"}`},
		{"/api/v1/content/reindex", `{"uri":"viking://user/ann"}`}, {"/api/v1/pack/export", `{"uri":"viking://user/ann"}`},
		{"/api/v1/search/grep", `{"uri":"viking://user/ann","pattern":"x"}`}, {"/api/v1/search/glob",
			`{"uri":"viking://user/ann","pattern":"*"}`}} {
		bob.fails(403, "PERMISSION_DENIED", "POST", call[0], call[1])
	}
	bob.fails(403, "PERMISSION_DENIED", "DELETE", "/api/v1/fs?uri=viking://user/ann/persona.md", "")
	bob.fails(403, "PERMISSION_DENIED", "POST", "/api/v1/pack/backup", "")
	bob.fails(403, "PERMISSION_DENIED", "POST", "/api/v1/pack/restore", `{"temp_file_id":"x"}`)
}

func TestReadAndDownload(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	read := func(options string) string {
		return ask[string](d, "GET", "/api/v1/content/read?uri=viking://resources/birds/heron.md"+options, "")
	}
	d.same("all", read(""), "# Grey heron\nfishes at dawn\nsleeps at noon\n")
	d.same("a line", read("&offset=1&limit=1"), "fishes at dawn\n")
	d.same("beyond", read("&offset=9"), "")
	d.same("none", read("&limit=0"), "")
	d.fails(400, "INVALID_ARGUMENT", "GET", "/api/v1/content/read?uri=viking://resources/birds", "")
	d.fails(400, "INVALID_ARGUMENT", "GET", "/api/v1/content/download?uri=viking://resources/birds", "")
	d.fails(404, "NOT_FOUND", "GET", "/api/v1/content/download?uri=viking://resources/none", "")
	d.fails(400, "INVALID_ARGUMENT", "GET", "/api/v1/content/read?uri=viking://resources/top.txt&offset=-1", "")

	d.post("/api/v1/content/batch-write", object{"root_uri": "viking://resources/birds", "operations": []object{
		{"uri": "viking://resources/birds/a ü.bin", "content_base64": "AAH/"}}})
	res := d.send("GET", "/api/v1/content/download?uri="+query("viking://resources/birds/a ü.bin"), nil)
	body := make([]byte, 10)
	n, _ := res.Body.Read(body)
	d.same("bytes", string(body[:n]), "\x00\x01\xff")
	d.same("disposition", res.Header.Get("Content-Disposition"), "attachment; filename*=UTF-8''a%20%C3%BC.bin")

	d.write("viking://user/ann/memories/preferences/tea.md", "I like green tea")
	d.same("memory", d.read("viking://~/memories/preferences/tea.md"), "I like green tea")
	d.has("raw", ask[string](d, "GET", "/api/v1/content/read?raw=true&uri=viking://~/memories/preferences/tea.md", ""),
		"type: preferences", "green tea")
}

// The texts of folders are made of what is in them, follow changes upwards, and leave alone what somebody wrote.
func TestDigests(t *testing.T) {
	t.Parallel()
	d := start(t)
	text := func(what, uri string) string { return ask[string](d, "GET", "/api/v1/content/"+what+"?uri="+uri, "") }
	library(d)
	d.same("written", text("abstract", "viking://resources/birds"), "All about herons")
	d.has("live, before it is stored", text("overview", "viking://resources/birds"), "heron.md: Grey heron", "notes/")
	d.same("of a file", text("overview", "viking://resources/birds/heron.md"), text("overview", "viking://resources/birds"))
	d.same("stored", d.found("Grey heron overview", "viking://resources/birds/.overview.md"), false)
	if err := d.files.Settle(context.Background(), ann); err != nil {
		t.Fatal(err)
	}
	d.has("upwards", text("overview", "viking://resources/birds"), "notes/: notes: 3 files, 0 folders: a b.md")
	d.has("as a file", d.read("viking://resources/birds/.overview.md"), "Grey heron")
	n, err := d.files.Waiting(context.Background())
	if err != nil || n != 0 {
		t.Fatal(n, err)
	}

	d.write("viking://resources/birds/.overview.md", "My own words about warblers")
	d.write("viking://resources/birds/README.md", "# The bird book")
	d.write("viking://resources/birds/notes/README.md", "# Loose notes")
	if err := d.files.Settle(context.Background(), ann); err != nil {
		t.Fatal(err)
	}
	d.same("own words stay", text("overview", "viking://resources/birds"), "My own words about warblers")
	d.same("introduced by its readme", text("abstract", "viking://resources/birds/notes"), "Loose notes (4 files, 0 folders)")
	ask[object](d, "DELETE", "/api/v1/fs?uri=viking://resources/birds/.overview.md&wait=true", "")
	if err := d.files.Settle(context.Background(), ann); err != nil {
		t.Fatal(err)
	}
	d.has("made again", text("overview", "viking://resources/birds"), "README.md: The bird book")
	d.same("nothing there yet", text("abstract", "viking://user/ann/memories"),
		"# viking://user/ann/memories [Directory abstract is not ready]")
	d.has("nothing there yet", text("overview", "viking://~/sessions"), "\n\n[Directory overview is not ready]")
	d.fails(404, "NOT_FOUND", "GET", "/api/v1/content/abstract?uri=viking://resources/none", "")
}

func TestWrite(t *testing.T) {
	t.Parallel()
	d := start(t)
	const uri = "viking://resources/proj/a.md"
	first := d.post("/api/v1/content/write", object{"uri": uri, "content": "# Title\n", "mode": "create", "wait": true})
	d.same("answer", first["root_uri"], "viking://resources/proj")
	d.same("answer", first["semantic_status"], "complete")
	d.same("bytes", first["written_bytes"], 8)
	d.post("/api/v1/content/write", object{"uri": uri, "content": "more kestrels", "mode": "append"})
	d.same("appended", d.read(uri), "# Title\nmore kestrels")
	d.same("found", d.found("kestrels", uri), true)
	d.write(uri, "only owls now")
	d.same("replaced", d.read(uri), "only owls now")
	d.same("old words", d.found("kestrels", uri), false)
	d.same("new words", d.found("owls", uri), true)

	for body, status := range map[string]int{
		`{"uri":"viking://resources/proj/a.md","content":"x","mode":"create"}`:            409,
		`{"uri":"viking://resources/proj","content":"x"}`:                                 400,
		`{"uri":"viking://resources/proj/a.md/x.md","content":"x"}`:                       409,
		`{"uri":"viking://resources","content":"x"}`:                                      400,
		`{"uri":"viking://resources/x.bin","content":"x"}`:                                400,
		`{"uri":"viking://resources/Makefile","content":"x","mode":"create"}`:             400,
		`{"uri":"viking://resources/x.md"}`:                                               400,
		`{"content":"x"}`:                                                                 400,
		`{"uri":"viking://resources/x.md","content":"x","mode":"upsert"}`:                 400,
		`{"uri":"viking://resources/x.md","content":"x","colour":"red"}`:                  400,
		`{"uri":"viking://resources/x.md","content":7}`:                                   400,
		`{"uri":"viking://resources/x.md","content":"x","processing_mode":"fast"}`:        400,
		`{"uri":"viking://user/ann/skills/x/SKILL.md","content":"x"}`:                     400,
		`{"uri":"viking://user/ann/sessions/x/a.md","content":"x"}`:                       400,
		`{"uri":"viking://user/ann/peers/x/a.md","content":"x"}`:                          400,
		`{"uri":"viking://user/ann/privacy/a.md","content":"x"}`:                          400,
		`{"uri":"viking://agent/main/a.md","content":"x"}`:                                400,
		`{"uri":"viking://user/ann/memories/preferences/x.txt","content":"x"}`:            400,
		`{"uri":"viking://user/ann/memories/preferences/x.md","content":" \n"}`:           400,
		`{"uri":"viking://resources/none/.abstract.md","content":"x"}`:                    404,
		`{"uri":"viking://user/bob/a.md","content":"x"}`:                                  403,
		`{"uri":"viking://resources/../a.md","content":"x"}`:                              403,
		`{"uri":"nowhere/a.md","content":"x"}`:                                            400,
		`{"uri":"viking://resources/` + strings.Repeat("x/", 70) + `a.md","content":"x"}`: 400,
		`{"uri":"viking://resources/` + strings.Repeat("x", 300) + `.md","content":"x"}`:  400,
	} {
		d.fails(status, "", "POST", "/api/v1/content/write", body)
	}
	d.write("viking://agent/skills/notes/x.md", "shared")
	d.write("viking://user/ann/own/x.md", "own folder")
	deep := "viking://resources/" + strings.Repeat("d/", 62) + "a.md"
	d.write(deep, "deep down")
	d.same("deep", d.read(deep), "deep down")
}

// A memory that is written is one: found, shown, forgotten.
func TestWriteMemory(t *testing.T) {
	t.Parallel()
	d := start(t)
	const uri = "viking://user/ann/memories/preferences/tea.md"
	d.same("type", d.write(uri, "I like green tea\n\n<!-- MEMORY_FIELDS\n{\"version\":1}\n-->")["context_type"], "memory")
	d.same("without fields", d.read(uri), "I like green tea")
	d.same("found", d.found("green tea", uri), true)
	d.same("listed", d.ls("viking://~/memories/preferences"), []string{uri})
	d.post("/api/v1/content/write", object{"uri": uri, "content": ", and oolong", "mode": "append"})
	d.same("appended", d.read(uri), "I like green tea, and oolong")
	d.write("viking://~/memories/profile.md", "I am Ann")
	d.write("viking://~/memories/entities/people/bo.md", "Bo keeps bees")
	d.same("folders", d.ls("viking://~/memories"), []string{"viking://user/ann/memories/entities", "viking://user/ann/memories/preferences",
		"viking://user/ann/memories/profile.md"})
	d.same("recursive", len(d.ls("viking://~/memories", "&recursive=true")), 6)
	ask[object](d, "DELETE", "/api/v1/fs?uri="+uri, "")
	d.same("forgotten", d.found("green tea", uri), false)
	d.fails(404, "NOT_FOUND", "GET", "/api/v1/content/read?uri="+uri, "")
}

func TestBatchWrite(t *testing.T) {
	t.Parallel()
	d := start(t)
	const root = "viking://resources/bw"
	batch := func(ops ...object) string { return jsonOf(t, object{"root_uri": root, "operations": ops}) }
	d.fails(404, "NOT_FOUND", "POST", "/api/v1/content/batch-write", batch(object{"uri": root + "/a.md", "content": "x"}))
	d.post("/api/v1/fs/mkdir", object{"uri": root})
	first := ask[object](d, "POST", "/api/v1/content/batch-write", batch(object{"uri": root + "/a.md", "content": "A", "mode": "create"},
		object{"uri": root + "/b.bin", "content_base64": "AAEC", "mode": "upsert"}, object{"uri": root + "/c/d.md", "content": "D"}))
	d.same("created", first["created"], []any{root + "/a.md", root + "/b.bin", root + "/c/d.md"})
	second := ask[object](d, "POST", "/api/v1/content/batch-write", batch(object{"uri": root + "/a.md", "content": "A"},
		object{"uri": root + "/c/d.md", "content": "E", "mode": "append"}))
	d.same("unchanged", second["unchanged"], []any{root + "/a.md"})
	d.same("updated", second["updated"], []any{root + "/c/d.md"})
	d.same("appended", d.read(root+"/c/d.md"), "DE")

	// All or nothing.
	d.fails(409, "ALREADY_EXISTS", "POST", "/api/v1/content/batch-write", batch(object{"uri": root + "/new.md", "content": "x"},
		object{"uri": root + "/a.md", "content": "x", "mode": "create"}))
	d.fails(404, "NOT_FOUND", "GET", "/api/v1/fs/stat?uri="+root+"/new.md", "")

	many := make([]object, 257)
	for i := range many {
		many[i] = object{"uri": fmt.Sprint(root, "/", i, ".md"), "content": "x"}
	}
	big := object{"uri": root + "/big.md", "content": strings.Repeat("x", 9<<20)}
	for _, ops := range [][]object{{}, many, {big}, {{"uri": root + "/x.md"}}, {{"uri": root + "/x.md", "content": "x",
		"content_base64": "eA=="}},
		{{"uri": root + "/x.md", "content_base64": "*"}}, {{"uri": root + "/x.md", "content": "x", "mode": "move"}},
		{{"uri": "viking://resources/other.md", "content": "x"}}, {{"uri": root + "/x.md", "content": "x"}, {"uri": root + "/x.md",
			"content": "y"}},
		{{"content": "x"}}} {
		d.fails(400, "INVALID_ARGUMENT", "POST", "/api/v1/content/batch-write", batch(ops...))
	}
}

func TestMkdir(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.same("made", d.post("/api/v1/fs/mkdir", object{"uri": "viking://resources/a/b/"}), object{"uri": "viking://resources/a/b"})
	d.same("parents", d.ls("viking://resources", "&recursive=true"), []string{"viking://resources/a", "viking://resources/a/b"})
	d.fails(409, "CONFLICT", "POST", "/api/v1/fs/mkdir", `{"uri":"viking://resources/a"}`)
	d.fails(400, "INVALID_ARGUMENT", "POST", "/api/v1/fs/mkdir", `{}`)
	d.fails(400, "", "POST", "/api/v1/fs/mkdir", `{"uri":"viking://resources"}`)
	d.fails(400, "", "POST", "/api/v1/fs/mkdir", `{"uri":"viking://resources/a/.abstract.md"}`)
	d.fails(403, "PERMISSION_DENIED", "POST", "/api/v1/fs/mkdir", `{"uri":"viking://user/bob/x"}`)
	d.write("viking://resources/f.md", "x")
	d.fails(409, "CONFLICT", "POST", "/api/v1/fs/mkdir", `{"uri":"viking://resources/f.md/x"}`)
}

func TestRemove(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	rm := func(options string) object { return ask[object](d, "DELETE", "/api/v1/fs?uri="+options, "") }
	d.same("missing", rm("viking://resources/none")["estimated_deleted_count"], 0)
	d.fails(400, "INVALID_ARGUMENT", "DELETE", "/api/v1/fs?uri=viking://resources/birds", "")
	d.same("before", d.found("dawn", "viking://resources/birds/heron.md"), true)
	d.same("a folder", rm("viking://resources/birds&recursive=true&wait=true")["estimated_deleted_count"], 6)
	d.same("after", d.found("dawn", "viking://resources/birds/heron.md"), false)
	d.same("listed", d.ls("viking://resources"), []string{"viking://resources/top.txt"})
	d.same("a file", rm("viking://resources/top.txt")["estimated_deleted_count"], 1)
	d.same("again", rm("viking://resources/top.txt")["estimated_deleted_count"], 0)
	for _, uri := range []string{"viking://", "viking://resources", "viking://user/ann", "viking://~", "viking://agent", "viking://user",
		"viking://user/bob"} {
		d.fails(403, "PERMISSION_DENIED", "DELETE", "/api/v1/fs?recursive=true&uri="+uri, "")
	}
	d.fails(400, "INVALID_ARGUMENT", "DELETE", "/api/v1/fs", "")
}

func TestMove(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	mv := func(from, to string) { d.Helper(); d.post("/api/v1/fs/mv", object{"from_uri": from, "to_uri": to}) }
	mv("viking://resources/birds/heron.md", "viking://resources/birds/egret.md")
	d.same("index", []any{d.found("dawn", "viking://resources/birds/heron.md"), d.found("dawn", "viking://resources/birds/egret.md")},
		[]any{false, true})
	mv("viking://resources/birds", "viking://resources/fowl")
	d.same("a folder", d.found("dawn", "viking://resources/fowl/egret.md"), true)
	d.same("names", d.read("viking://resources/fowl/notes/a b.md"), "spaces in names")
	d.same("gone", d.ls("viking://resources"), []string{"viking://resources/fowl", "viking://resources/top.txt"})
	mv("viking://user/ann/persona.md", "viking://resources/fowl/persona.md")
	d.same("to another scope", d.as("key-bob").read("viking://resources/fowl/persona.md"), "I am careful")
	mv("viking://resources/fowl/persona.md", "viking://resources/top.txt")
	d.same("over a file", d.read("viking://resources/top.txt"), "I am careful")
	d.write("viking://~/memories/preferences/tea.md", "I like tea")
	for body, status := range map[string]int{
		`{"from_uri":"viking://resources/none","to_uri":"viking://resources/x"}`:                   404,
		`{"from_uri":"viking://resources/top.txt","to_uri":"viking://resources/far/away.txt"}`:     404,
		`{"from_uri":"viking://resources/fowl","to_uri":"viking://resources/fowl/in"}`:             400,
		`{"from_uri":"viking://resources/fowl","to_uri":"viking://resources/fowl"}`:                400,
		`{"from_uri":"viking://resources/fowl","to_uri":"viking://resources/top.txt"}`:             409,
		`{"from_uri":"viking://resources/top.txt","to_uri":"viking://resources/fowl"}`:             409,
		`{"from_uri":"viking://resources/top.txt","to_uri":"viking://resources/fowl/egret.md/x"}`:  400,
		`{"from_uri":"viking://resources","to_uri":"viking://user/ann/x"}`:                         403,
		`{"from_uri":"viking://resources/top.txt","to_uri":"viking://user/bob/top.txt"}`:           403,
		`{"from_uri":"viking://~/memories/preferences/tea.md","to_uri":"viking://resources/t.md"}`: 501,
		`{"from_uri":"viking://resources/top.txt","to_uri":"viking://~/memories/events/t.md"}`:     501,
		`{"from_uri":"viking://resources/top.txt"}`:                                                400,
	} {
		d.fails(status, "", "POST", "/api/v1/fs/mv", body)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	cp := func(from, to string, recursive bool) object {
		d.Helper()
		return d.post("/api/v1/fs/cp", object{"from_uri": from, "to_uri": to, "recursive": recursive})
	}
	d.same("one", cp("viking://resources/top.txt", "viking://resources/copy.txt", false)["files_created"], 1)
	d.same("folder", cp("viking://resources/birds", "viking://resources/fowl", true)["files_created"], 6)
	d.same("both", []any{d.found("dawn", "viking://resources/birds/heron.md"), d.found("dawn", "viking://resources/fowl/heron.md")},
		[]any{true, true})
	d.fails(400, "", "POST", "/api/v1/fs/cp", `{"from_uri":"viking://resources/birds","to_uri":"viking://resources/x"}`)
	d.fails(400, "", "POST", "/api/v1/fs/cp",
		`{"from_uri":"viking://resources/birds","to_uri":"viking://resources/birds/x","recursive":true}`)
	d.fails(404, "", "POST", "/api/v1/fs/cp", `{"from_uri":"viking://resources/none","to_uri":"viking://resources/x"}`)
	d.fails(403, "", "POST", "/api/v1/fs/cp", `{"from_uri":"viking://resources/top.txt","to_uri":"viking://user/bob/x"}`)
}

func TestTags(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	set := func(body object) object { d.Helper(); return d.post("/api/v1/content/set_tags", body) }
	tags := func(uri string) any {
		return ask[object](d, "GET", "/api/v1/fs/attrs?uri="+uri, "")["attrs"].(object)["tags"]
	}
	const heron = "viking://resources/birds/heron.md"
	d.same("normal form", set(object{"uri": heron, "tags": []string{"Team=Core", "x=1"}})["tags"], []any{"team=core", "x=1"})
	set(object{"uri": heron, "tags": []string{"x=2", "y=3"}, "mode": "append"})
	d.same("a key has one value", tags(heron), []any{"team=core", "x=2", "y=3"})
	all := set(object{"uri": "viking://resources/birds", "tags": []string{"x=9"}, "mode": "append", "recursive": true})
	d.same("recursive", all["success_count"], 6)
	d.same("kept", tags(heron), []any{"team=core", "y=3", "x=9"})
	d.same("content", d.read(heron), "# Grey heron\nfishes at dawn\nsleeps at noon\n")
	d.write(heron, "other content")
	d.same("kept by a write", tags(heron), []any{"team=core", "y=3", "x=9"})
	none := set(object{"uri": heron, "tags": []string{"nonsense"}})
	d.same("no tag", []any{none["tags_updated"], none["skipped_count"]}, []any{false, 1.0})
	d.write("viking://~/memories/preferences/tea.md", "I like tea")
	ask[object](d, "POST", "/api/v1/fs/attrs/set_tags", `{"uri":"viking://~/memories/preferences/tea.md","tags":["a=b"]}`)
	d.same("memory", tags("viking://~/memories/preferences/tea.md"), []any{"a=b"})
	written := object{"uri": "viking://resources/top.txt", "content": "x", "tags": []string{"n=1"}, "tag_mode": "append"}
	d.post("/api/v1/content/write", written)
	d.same("with a write", tags("viking://resources/top.txt"), []any{"n=1"})
	d.fails(501, "UNIMPLEMENTED", "POST", "/api/v1/content/write",
		`{"uri":"viking://resources/top.txt","content":"x","acl":{"read":["bob"]}}`)
	d.fails(404, "NOT_FOUND", "POST", "/api/v1/content/set_tags", `{"uri":"viking://resources/none","tags":["a=b"]}`)
	d.fails(400, "", "POST", "/api/v1/content/set_tags", `{"uri":"viking://resources/top.txt"}`)
	d.fails(400, "", "POST", "/api/v1/content/set_tags", `{"uri":"viking://resources/top.txt","tags":["a=b"],"mode":"remove"}`)
	d.fails(400, "", "POST", "/api/v1/content/set_tags", `{"uri":"viking://resources/top.txt","tags":["a=b"],"x":1}`)
}

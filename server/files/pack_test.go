package files_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

func (d daemon) bytes(path, body string) string {
	d.Helper()
	res := d.send("POST", path, strings.NewReader(body))
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		d.Fatalf("%s: %d %s %v", path, res.StatusCode, b, err)
	}
	return string(b)
}

func TestExportAndImport(t *testing.T) {
	t.Parallel()
	d, to := start(t), start(t)
	library(d)
	d.post("/api/v1/content/batch-write", object{"root_uri": "viking://resources/birds", "operations": []object{
		{"uri": "viking://resources/birds/x.bin", "content_base64": "AAEC"}}})
	pack := d.bytes("/api/v1/pack/export", `{"uri":"viking://resources/birds"}`)
	to.post("/api/v1/fs/mkdir", object{"uri": "viking://resources/imported"})
	in := func(more object) string {
		body := object{"temp_file_id": "PACK", "parent": "viking://resources/imported"}
		for k, v := range more {
			body[k] = v
		}
		return jsonOf(t, body)
	}
	to.packs.Store("PACK", pack)
	done := ask[object](to, "POST", "/api/v1/pack/import", in(nil))
	to.same("uri", done["uri"], "viking://resources/imported/birds")
	to.same("nodes", to.ls("viking://resources/imported", "&recursive=true"), shift(d.ls("viking://resources", "&recursive=true")))
	to.same("content", to.read("viking://resources/imported/birds/notes/grüße-你好.md"), "not ASCII")
	to.same("abstract", ask[string](to, "GET", "/api/v1/content/abstract?uri=viking://resources/imported/birds", ""), "All about herons")
	to.same("found", to.found("dawn", "viking://resources/imported/birds/heron.md"), true)
	to.fails(409, "CONFLICT", "POST", "/api/v1/pack/import", in(nil))
	to.write("viking://resources/imported/birds/extra.md", "more")
	ask[object](to, "POST", "/api/v1/pack/import", in(object{"on_conflict": "skip"}))
	to.same("skipped", to.read("viking://resources/imported/birds/extra.md"), "more")
	ask[object](to, "POST", "/api/v1/pack/import", in(object{"on_conflict": "overwrite"}))
	to.fails(404, "NOT_FOUND", "GET", "/api/v1/content/read?uri=viking://resources/imported/birds/extra.md", "")
	to.fails(400, "", "POST", "/api/v1/pack/import", in(object{"on_conflict": "merge"}))
	to.fails(400, "", "POST", "/api/v1/pack/import", in(object{"parent": "viking://user/ann"}))
	to.fails(403, "", "POST", "/api/v1/pack/import", in(object{"parent": "viking://user/bob"}))
	to.fails(400, "", "POST", "/api/v1/pack/restore", in(nil))
	to.fails(501, "UNIMPLEMENTED", "POST", "/api/v1/pack/import", in(object{"vector_mode": "require"}))
	d.fails(404, "NOT_FOUND", "POST", "/api/v1/pack/export", `{"uri":"viking://resources/none"}`)
	d.fails(400, "", "POST", "/api/v1/pack/export", `{"uri":"viking://resources/top.txt"}`)
	d.fails(400, "", "POST", "/api/v1/pack/export", `{"uri":"viking://"}`)
	d.fails(400, "", "POST", "/api/v1/pack/export", `{}`)
	d.fails(400, "", "POST", "/api/v1/pack/import", `{"parent":"viking://resources"}`)
	d.fails(400, "", "POST", "/api/v1/pack/import", `{"parent":"viking://resources","temp_file_id":"no zip file"}`)
}

func shift(uris []string) (out []string) {
	for _, u := range uris {
		if strings.HasPrefix(u, "viking://resources/birds") {
			out = append(out, strings.Replace(u, "resources/", "resources/imported/", 1))
		}
	}
	return out
}

// A backup brings back everything of an account: files, memories with their times, sessions with their archives, of all users.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	d, to := start(t), start(t)
	library(d)
	bob := d.as("key-bob")
	bob.write("viking://~/memories/preferences/coffee.md", "Bob likes coffee")
	d.write("viking://~/memories/preferences/tea.md", "I like tea")
	d.post("/api/v1/content/set_tags", object{"uri": "viking://~/memories/preferences/tea.md", "tags": []string{"a=b"}})
	d.write("viking://agent/skills/knots/SKILL.md", "# Knots")
	for i := range 3 {
		d.post("/api/v1/sessions/s1/messages", object{"role": "user", "content": fmt.Sprint("message number ", i)})
	}
	d.post("/api/v1/sessions/s1/commit", object{})
	d.post("/api/v1/sessions/s1/messages", object{"role": "user", "content": "still open"})
	to.packs.Store("BACKUP", d.bytes("/api/v1/pack/backup", `{}`))

	to.same("uri", ask[object](to, "POST", "/api/v1/pack/restore", `{"temp_file_id":"BACKUP"}`)["uri"], "viking://")
	to.same("files", to.ls("viking://resources", "&recursive=true"), d.ls("viking://resources", "&recursive=true"))
	to.same("own file", to.read("viking://~/persona.md"), "I am careful")
	to.same("memory", to.read("viking://~/memories/preferences/tea.md"), "I like tea")
	to.same("tags", ask[object](to, "GET", "/api/v1/fs/attrs?uri=viking://~/memories/preferences/tea.md", "")["attrs"].(object)["tags"],
		[]any{"a=b"})
	to.same("another user", to.as("key-bob").read("viking://~/memories/preferences/coffee.md"), "Bob likes coffee")
	to.same("skills", to.read("viking://agent/skills/knots/SKILL.md"), "# Knots")
	session := ask[object](to, "GET", "/api/v1/sessions/s1", "")
	to.same("session", []any{session["message_count"], session["total_message_count"], session["commit_count"]}, []any{1.0, 4.0, 1.0})
	to.has("archived", to.read("viking://~/sessions/s1/history/archive_001/messages.jsonl"), "message number 2")
	to.fails(409, "CONFLICT", "POST", "/api/v1/pack/restore", `{"temp_file_id":"BACKUP"}`)
	ask[object](to, "POST", "/api/v1/pack/restore", `{"temp_file_id":"BACKUP","on_conflict":"overwrite"}`)
	to.same("repeated", ask[object](to, "GET", "/api/v1/sessions/s1", "")["total_message_count"], 4)
	ask[object](to, "POST", "/api/v1/pack/restore", `{"temp_file_id":"BACKUP","on_conflict":"skip"}`)
	to.fails(400, "", "POST", "/api/v1/pack/import", `{"temp_file_id":"BACKUP","parent":"viking://resources"}`)
}

// Packs that want to break out, or that say what is not so.
func TestBrokenPacks(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	good := d.bytes("/api/v1/pack/export", `{"uri":"viking://resources/birds"}`)
	change := func(fn func(name, body string) (string, string)) string {
		r, err := zip.NewReader(strings.NewReader(good), int64(len(good)))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, f := range r.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			name, text := fn(f.Name, string(body))
			if name == "" {
				continue
			}
			m, err := w.Create(name)
			if err == nil {
				_, err = io.WriteString(m, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	rename := func(to string) string {
		return change(func(name, body string) (string, string) {
			return strings.Replace(name, "birds/files/heron.md", to, 1), body
		})
	}
	for what, pack := range map[string]string{
		"slip":         rename("birds/files/../../../etc/passwd"),
		"absolute":     rename("/etc/passwd"),
		"backslash":    rename(`birds/files/..\x`),
		"drive":        rename("birds/files/c:/x"),
		"another root": rename("other/files/heron.md"),
		"unlisted":     rename("birds/files/unlisted.md"),
		"twice":        rename("birds/files/notes/a b.md"),
		"missing": change(func(name, body string) (string, string) {
			return strings.Replace(name, "birds/files/heron.md", "", 1), body
		}),
		"content": change(func(name, body string) (string, string) {
			return name, strings.Replace(body, "fishes at dawn", "fishes at dusk", 1)
		}),
		"size": change(func(name, body string) (string, string) {
			return name, strings.Replace(body, "fishes at dawn", "sleeps", 1)
		}),
		"list": change(func(name, body string) (string, string) {
			return name, strings.Replace(body, `"path": "heron.md"`, `"path": "egret.md"`, 1)
		}),
		"version": change(func(name, body string) (string, string) {
			return name, strings.Replace(body, `"format_version": 3`, `"format_version": 9`, 1)
		}),
		"no manifest": change(func(name, body string) (string, string) {
			return strings.Replace(name, "birds/_ovpack/manifest.json", "birds/_ovpack/other.json", 1), body
		}),
		"bomb": change(func(name, body string) (string, string) {
			if strings.HasSuffix(name, "heron.md") {
				body = strings.Repeat("\x00", 65<<20)
			}
			return name, body
		}),
		"short": good[:len(good)/2],
	} {
		d.packs.Store(what, pack)
		d.fails(400, "INVALID_ARGUMENT", "POST", "/api/v1/pack/import", jsonOf(t, object{"temp_file_id": what,
			"parent": "viking://resources/birds/notes"}))
		d.same(what+" left nothing", len(d.ls("viking://resources/birds/notes")), 3)
	}
}

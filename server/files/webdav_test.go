package files_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestWebDAV drives the handler as clients do.
func TestWebDAV(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	do := func(status int, method, path, body string, headers ...string) (*http.Response, string) {
		t.Helper()
		res := d.send(method, "/webdav/resources"+path, strings.NewReader(body), headers...)
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != status {
			t.Errorf("%s %s: %d, want %d: %s %v", method, path, res.StatusCode, status, b, err)
		}
		return res, string(b)
	}
	res, _ := do(204, "OPTIONS", "/", "")
	d.has("options", res.Header.Get("Allow"), "PROPFIND", "MOVE")
	_, list := do(207, "PROPFIND", "/", "", "Depth", "1")
	d.has("propfind", list, "/webdav/resources/birds/", "/webdav/resources/top.txt")
	_, list = do(207, "PROPFIND", "/birds", "", "Depth", "infinity")
	d.has("one level", list, "heron.md", "/birds/notes/")
	if strings.Contains(list, "a%20b.md") || strings.Contains(list, ".abstract.md") {
		t.Errorf("too much: %s", list)
	}
	_, list = do(207, "PROPFIND", "/birds", "", "Depth", "0")
	if strings.Contains(list, "heron.md") {
		t.Errorf("depth 0: %s", list)
	}
	_, text := do(200, "GET", "/birds/heron.md", "")
	d.same("get", text, "# Grey heron\nfishes at dawn\nsleeps at noon\n")
	res, text = do(200, "HEAD", "/birds/heron.md", "")
	d.same("head", []any{text, res.Header.Get("Content-Length")}, []any{"", "43"})
	do(206, "GET", "/birds/heron.md", "", "Range", "bytes=2-5")

	do(201, "PUT", "/birds/new%20file%20100%25.go", "package new // kingfisher")
	d.same("put", d.ls("viking://resources/birds", "&sort_by=name")[1], "viking://resources/birds/new file 100%.go")
	d.same("found", d.found("kingfisher", "viking://resources/birds/new file 100%.go"), true)
	do(204, "PUT", "/birds/heron.md", "other words")
	d.same("replaced", d.read("viking://resources/birds/heron.md"), "other words")
	do(415, "PUT", "/birds/x.bin", "\xff\xfe")
	do(409, "PUT", "/none/x.md", "x")
	do(405, "PUT", "/birds", "x")
	do(413, "PUT", "/birds/huge.md", strings.Repeat("x", 64<<20+1))
	do(404, "PUT", "/birds/.abstract.md", "x")
	do(404, "GET", "/birds/.overview.md", "")
	do(404, "GET", "/none.md", "")

	do(201, "MKCOL", "/made", "")
	do(405, "MKCOL", "/made", "")
	do(409, "MKCOL", "/far/away", "")
	to := func(path string) []string {
		return []string{"Destination", "http://127.0.0.1:1933/webdav/resources" + path}
	}
	do(201, "MOVE", "/birds/heron.md", "", to("/made/heron.md")...)
	d.same("moved", d.read("viking://resources/made/heron.md"), "other words")
	do(412, "MOVE", "/made/heron.md", "", append(to("/top.txt"), "Overwrite", "F")...)
	do(204, "MOVE", "/made/heron.md", "", to("/top.txt")...)
	d.same("moved over", d.read("viking://resources/top.txt"), "other words")
	do(201, "COPY", "/top.txt", "", to("/made/copy.txt")...)
	do(204, "DELETE", "/made", "")
	do(404, "DELETE", "/made", "")
	do(405, "POST", "/birds", "x")
	do(405, "DELETE", "", "")

	_, lock := do(200, "LOCK", "/top.txt",
		`<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`)
	d.has("lock", lock, "locktoken")
	do(423, "PUT", "/top.txt", "x")
	eve := d.as("key-eve")
	if res := eve.send("PUT", "/webdav/resources/top.txt", strings.NewReader("hers")); res.StatusCode != 201 {
		t.Errorf("another account's lock is in the way: %d", res.StatusCode)
	}
	nobody := d.as("wrong")
	if res := nobody.send("PROPFIND", "/webdav/resources", nil); res.StatusCode != 401 {
		t.Errorf("a wrong key: %d", res.StatusCode)
	}
}

// A MOVE or COPY that cannot be done deletes nothing: neither what stands at its destination, nor a folder that its source is in.
func TestWebDAVRefusesBeforeItDeletes(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	before := d.ls("viking://resources", "&recursive=true&simple=true")
	to := func(path string) []string {
		return []string{"Destination", "http://127.0.0.1:1933/webdav/resources" + path}
	}
	for _, c := range []struct {
		status   int
		from, to string
	}{
		{404, "/none.md", "/birds"}, {404, "/none.md", "/top.txt"}, {403, "/birds/heron.md", "/birds"}, {403, "/birds/notes", "/birds"},
		{403, "/birds", "/birds/notes"}, {409, "/birds/heron.md", "/none/heron.md"}, {409, "/top.txt", "/birds/heron.md/x.md"},
		{403, "/top.txt", "/birds/.abstract.md"}, {400, "/top.txt", "/birds/%2e%2e/%2e%2e/x.md"}, {403, "/birds/heron.md", "/birds/heron.md"},
		{502, "/birds", ""}, {403, "/birds", "/" + strings.Repeat("n", 300)},
	} {
		for _, method := range []string{"MOVE", "COPY"} {
			if method == "COPY" && len(c.to) > 300 {
				continue // 405, after a folder could not be made
			}
			if res := d.send(method, "/webdav/resources"+c.from, nil, to(c.to)...); res.StatusCode != c.status {
				t.Errorf("%s %s to %s: %d, want %d", method, c.from, c.to, res.StatusCode, c.status)
			}
			d.same("what is there", d.ls("viking://resources", "&recursive=true&simple=true"), before)
		}
	}
	if res := d.send("MOVE", "/webdav/resources/birds/notes", nil, to("/top.txt")...); res.StatusCode != 204 {
		t.Errorf("a folder onto a file: %d", res.StatusCode)
	}
	d.same("the folder is there", d.ls("viking://resources/top.txt", "&simple=true") != nil, true)
}

// What a PUT is meant for, and where it goes, is as it says.
func TestWebDAVPutConditions(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	tag := d.send("HEAD", "/webdav/resources/top.txt", nil).Header.Get("ETag")
	for _, c := range []struct {
		status  int
		path    string
		headers []string
	}{
		{412, "/top.txt", []string{"If-None-Match", "*"}}, {201, "/fresh.txt", []string{"If-None-Match", "*"}},
		{412, "/top.txt", []string{"If-Match", `"other"`}}, {412, "/absent.txt", []string{"If-Match", "*"}},
		{204, "/top.txt", []string{"If-Match", tag}}, {204, "/top.txt", []string{"If-Match", "*"}},
		{400, "/top.txt", []string{"Content-Range", "bytes 0-0/5"}},
		{400, "/birds/%2e%2e/top.txt", nil}, {400, "/birds/a%2f..%2f..%2ftop.txt", nil}, {400, "/%ff.md", nil},
		{400, "/" + strings.Repeat("n", 300) + ".md", nil}, {400, "/a%0ab.md", nil},
	} {
		if res := d.send("PUT", "/webdav/resources"+c.path, strings.NewReader("new words"), c.headers...); res.StatusCode != c.status {
			t.Errorf("%s %v: %d, want %d", c.path, c.headers, res.StatusCode, c.status)
		}
	}
}

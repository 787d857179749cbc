package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/store/memory"
)

// dock serves the routes of resources, with workers behind them.
type dock struct {
	*testing.T
	mux   *http.ServeMux
	store skald.Store
	id    skald.Identity
}

func newDock(t *testing.T, change ...func(*resource.Options)) dock {
	t.Helper()
	store := memory.New()
	runner := archive.New(store, nil, nil, nil, nil)
	o := resource.Options{Dir: t.TempDir(), Wake: runner.Wake, Guard: fetch.Guard{AllowPrivate: true}}
	for _, c := range change {
		c(&o)
	}
	s, err := resource.New(store, o)
	if err != nil {
		t.Fatal(err)
	}
	runner.Handle(resource.JobKind, s)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); runner.Run(ctx, 2) }()
	t.Cleanup(func() { cancel(); <-done; _ = store.Close() })
	d := dock{T: t, mux: http.NewServeMux(), store: store, id: skald.Identity{Account: "acme", User: "ann", Agent: "main"}}
	api.New(api.Deps{Resources: s}).Register(d.mux)
	return d
}

func (d dock) send(status int, method, path, media string, body []byte) map[string]any {
	d.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", media)
	w := httptest.NewRecorder()
	d.mux.ServeHTTP(w, r.WithContext(wire.WithCaller(r.Context(), d.id)))
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != status {
		d.Fatalf("%s %s %s: %d %v, want %d: %s", method, path, body, w.Code, err, status, w.Body)
	}
	key := "result"
	if status != http.StatusOK {
		key = "error"
	}
	part, _ := out[key].(map[string]any)
	return part
}

func (d dock) call(status int, method, path string, body any) map[string]any {
	d.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		d.Fatal(err)
	}
	return d.send(status, method, path, "application/json", b)
}

func (d dock) upload(name, body string) string {
	d.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	_ = m.WriteField("upload_mode", "local")
	w, err := m.CreateFormFile("file", name)
	if err == nil {
		_, err = w.Write([]byte(body))
	}
	if err != nil || m.Close() != nil {
		d.Fatal(err)
	}
	return fmt.Sprint(d.send(http.StatusOK, "POST", api.UploadPath, m.FormDataContentType(), b.Bytes())["temp_file_id"])
}

func (d dock) same(what string, got, want any) {
	d.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		d.Errorf("%s: %s, want %s", what, g, w)
	}
}

// TestAddResource: fields and codes are those that OpenViking 0.5.2 answered with.
func TestAddResource(t *testing.T) {
	t.Parallel()
	d := newDock(t)
	key := d.upload("Guide.md", "# Guide\n\nHow to moor.\n")
	if !strings.HasPrefix(key, "upload_") || !strings.HasSuffix(key, ".md") {
		t.Errorf("temp_file_id %q", key)
	}
	out := d.call(http.StatusOK, "POST", "/api/v1/resources", map[string]any{"temp_file_id": key, "wait": true, "timeout": 60, "telemetry": false, "args": map[string]any{}})
	d.same("result", []any{out["status"], out["root_uri"], out["source_path"], out["errors"], out["queue_status"] != nil},
		[]any{"success", "viking://resources/Guide", "Guide.md", []any{}, true})
	later := d.call(http.StatusOK, "POST", "/api/v1/resources", map[string]any{"temp_file_id": d.upload("Guide.md", "x"), "source_name": "Other.md"})
	d.same("without wait", []any{later["status"], later["root_uri"], later["task_id"] != ""}, []any{"success", "viking://resources/Other", true})

	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Page</h1><p>Words.</p>") }))
	defer page.Close()
	out = d.call(http.StatusOK, "POST", "/api/v1/resources", map[string]any{"path": page.URL + "/p", "to": "viking://resources/web/p", "wait": true})
	d.same("page", out["root_uri"], "viking://resources/web/p")
}

func TestAddResourceRefusals(t *testing.T) {
	t.Parallel()
	d := newDock(t)
	for _, c := range []struct {
		body   map[string]any
		status int
		code   string
	}{
		{map[string]any{}, 400, "INVALID_ARGUMENT"},
		{map[string]any{"path": "/etc/passwd"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"path": "file:///etc/passwd"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"path": "~/.ssh/id_rsa"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"path": "hello"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"temp_file_id": "upload_" + strings.Repeat("0", 32) + ".md"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"temp_file_id": "../key"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"temp_file_id": "x", "zzz": 1}, 400, "INVALID_ARGUMENT"},
		{map[string]any{"path": "https://example.org", "to": "viking://resources/a", "parent": "viking://resources/b"}, 400, "INVALID_ARGUMENT"},
		{map[string]any{"temp_file_id": d.upload("a.md", "x"), "parent": "viking://resources/nope"}, 404, "NOT_FOUND"},
		{map[string]any{"temp_file_id": d.upload("a.md", "x"), "to": "viking://user/bob/resources/x"}, 403, "PERMISSION_DENIED"},
		{map[string]any{"temp_file_id": d.upload("a.md", "x"), "to": "viking://temp/x"}, 400, "INVALID_URI"},
		{map[string]any{"temp_file_id": d.upload("a.md", "x"), "watch_interval": 5}, 400, "INVALID_ARGUMENT"},
		{map[string]any{"temp_file_id": d.upload("a.md", "x"), "processing_mode": "x"}, 400, "INVALID_ARGUMENT"},
		{map[string]any{"temp_file_id": d.upload("a.md", "x"), "acl": map[string]any{}}, 501, "UNIMPLEMENTED"},
		{map[string]any{"temp_file_id": d.upload("bad.docx", "PK\x03\x04broken"), "wait": true}, 500, "PROCESSING_ERROR"},
		{map[string]any{"temp_file_id": d.upload("bad.zip", "PK\x03\x04broken"), "wait": true}, 400, "INVALID_ARGUMENT"},
	} {
		d.same(fmt.Sprint(c.body), d.call(c.status, "POST", "/api/v1/resources", c.body)["code"], c.code)
	}
	closed := newDock(t, func(o *resource.Options) { o.Guard = fetch.Guard{} })
	for _, path := range []string{"http://127.0.0.1:1/x", "http://169.254.169.254/", "git@127.0.0.1:o/r.git", "http://[::1]/"} {
		d.same(path, closed.call(403, "POST", "/api/v1/resources", map[string]any{"path": path})["code"], "PERMISSION_DENIED")
	}
}

func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	d := newDock(t, func(o *resource.Options) { o.Limits = fetch.DefaultLimits; o.Limits.Download = 100 })
	d.same("no multipart", d.send(400, "POST", api.UploadPath, "application/json", []byte("{}"))["code"], "INVALID_ARGUMENT")
	d.same("no file", d.send(400, "POST", api.UploadPath, "multipart/form-data; boundary=x", []byte("--x--\r\n"))["code"], "INVALID_ARGUMENT")
	body := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\n" + strings.Repeat("a", 101)
	d.same("too large", d.send(400, "POST", api.UploadPath, "multipart/form-data; boundary=x", []byte(body+"\r\n--x--\r\n"))["code"], "INVALID_ARGUMENT")
	d.same("cut off", d.send(400, "POST", api.UploadPath, "multipart/form-data; boundary=x", []byte(body[:120]))["code"], "INVALID_ARGUMENT")
	key := d.upload("a.md", "mine")
	d.id.User = "bob"
	d.same("another user's", d.call(403, "POST", "/api/v1/resources", map[string]any{"temp_file_id": key})["code"], "PERMISSION_DENIED")
}

func TestWatchRoutes(t *testing.T) {
	t.Parallel()
	d := newDock(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "words") }))
	defer page.Close()
	d.call(http.StatusOK, "POST", "/api/v1/resources", map[string]any{"path": page.URL + "/a.txt", "to": "viking://resources/w", "watch_interval": 5, "reason": "why", "wait": true})
	list := d.call(http.StatusOK, "GET", "/api/v1/watches", nil)
	d.same("total", list["total"], 1)
	watch := list["tasks"].([]any)[0].(map[string]any)
	id := fmt.Sprint(watch["task_id"])
	d.same("watch", []any{watch["to_uri"], watch["watch_interval"], watch["is_active"], watch["reason"], watch["account_id"], watch["user_id"], watch["path"]},
		[]any{"viking://resources/w", 5, true, "why", "acme", "ann", page.URL + "/a.txt"})
	d.same("by root", d.call(http.StatusOK, "GET", "/api/v1/watches?to_uri=viking://resources/w", nil)["task_id"], id)
	d.same("by id", d.call(http.StatusOK, "GET", "/api/v1/watches/"+id, nil)["task_id"], id)
	changed := d.call(http.StatusOK, "PATCH", "/api/v1/watches/"+id, map[string]any{"watch_interval": 2.5, "is_active": false})
	d.same("changed", []any{changed["watch_interval"], changed["is_active"], changed["next_execution_time"]}, []any{2.5, false, nil})
	d.same("inactive", d.call(http.StatusOK, "GET", "/api/v1/watches?active_only=true", nil)["total"], 0)
	d.same("triggered", d.call(http.StatusOK, "POST", "/api/v1/watches/trigger?to_uri=viking://resources/w", nil)["scheduled"], true)
	d.same("mismatch", d.call(400, "GET", "/api/v1/watches/"+id+"?to_uri=viking://resources/x", nil)["code"], "INVALID_ARGUMENT")
	d.same("extra", d.call(400, "PATCH", "/api/v1/watches/"+id, map[string]any{"x": 1})["code"], "INVALID_ARGUMENT")
	d.same("not more than 0", d.call(400, "PATCH", "/api/v1/watches/"+id, map[string]any{"watch_interval": 0})["code"], "INVALID_ARGUMENT")
	missing := d.call(404, "GET", "/api/v1/watches/nope", nil)
	d.same("unknown", []any{missing["code"], missing["message"]}, []any{"NOT_FOUND", "Watch_task not found: nope"})
	foreign := d
	foreign.id.User = "bob"
	d.same("foreign", foreign.call(404, "DELETE", "/api/v1/watches/"+id, nil)["code"], "NOT_FOUND")
	d.same("deleted", d.call(http.StatusOK, "DELETE", "/api/v1/watches/"+id, nil)["deleted"], true)
	d.same("gone", d.call(404, "GET", "/api/v1/watches/"+id, nil)["code"], "NOT_FOUND")
	off := newDock(t, func(o *resource.Options) { o.NoWatch = true })
	d.same("off", off.call(412, "GET", "/api/v1/watches", nil)["code"], "FAILED_PRECONDITION")
	if !slices.Contains([]string{"FAILED_PRECONDITION"}, fmt.Sprint(off.call(412, "DELETE", "/api/v1/watches/x", nil)["code"])) {
		t.Error("a watch is deleted while the scheduler is off")
	}
}

package api_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/skill"
	"github.com/skald-engine/skald/store/memory"
)

// shelf serves the skill routes on a store of its own.
type shelf struct {
	*testing.T
	mux     *http.ServeMux
	id      skald.Identity
	uploads uploads
}

// uploads are what each user uploaded, by id.
type uploads map[string][]byte

func (u uploads) Uploaded(_ context.Context, id skald.Identity, upload string, _ int64) ([]byte, string, error) {
	data, ok := u[id.User+"/"+upload]
	if !ok {
		return nil, "", skald.E("uploads", skald.KindPermission, "no such upload")
	}
	return data, "packed.zip", nil
}

func newShelf(t *testing.T) shelf {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l := &skill.Library{Store: memory.New(), Policy: func() skald.Policy { return skald.Policy{} }, Now: func() time.Time { return now }}
	s := shelf{T: t, mux: http.NewServeMux(), id: skald.Identity{Account: "acme", User: "ann", Agent: "main"}, uploads: uploads{}}
	api.New(api.Deps{Skills: l, Uploaded: s.uploads}).Register(s.mux)
	return s
}

func (s shelf) call(status int, method, path string, body any) map[string]any {
	s.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	r := httptest.NewRequest(method, path, bytes.NewReader(b))
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, r.WithContext(wire.WithCaller(r.Context(), s.id)))
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != status {
		s.Fatalf("%s %s: %d %v, want %d: %s", method, path, w.Code, err, status, w.Body)
	}
	if status == http.StatusOK {
		out, _ = out["result"].(map[string]any)
		return out
	}
	out, _ = out["error"].(map[string]any)
	return out
}

func (s shelf) same(what string, got, want any) {
	s.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		s.Errorf("%s: %s, want %s", what, g, w)
	}
}

const herring = "---\nname: herring\ndescription: Counts herring in the northern harbour\ntags: [fish]\nallowed-tools: Read, Bash(git:*)\nversion: 2\n---\n\n# Herring\n\nUse the net.\n"

func packed(t *testing.T, files ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSkillsLife follows a skill through all routes; fields are those of OpenViking 0.5.2.
func TestSkillsLife(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	empty := s.call(200, "GET", "/api/v1/skills", nil)
	s.same("empty", empty, map[string]any{"root_uris": []string{"viking://user/ann/skills", "viking://agent/skills"}, "skills": []any{}, "total": 0})

	root := "viking://user/ann/skills/herring"
	added := s.call(200, "POST", "/api/v1/skills", map[string]any{"data": herring})
	s.same("added", added, map[string]any{"auxiliary_files": 0, "name": "herring", "root_uri": root, "status": "success", "uri": root})

	view := map[string]any{"type": "skill", "name": "herring", "uri": root, "root_uri": root, "skill_md_uri": root + "/SKILL.md",
		"description": "Counts herring in the northern harbour", "tags": []string{"fish"}, "allowed_tools": []string{"Read", "Bash(git:*)"}}
	list := s.call(200, "GET", "/api/v1/skills?target_uri=viking://~/skills", nil)
	s.same("list", list, map[string]any{"root_uri": "viking://user/ann/skills", "skills": []any{view}, "total": 1})

	found := s.call(200, "POST", "/api/v1/skills/find", map[string]any{"query": "who counts herring?"})
	hit := found["skills"].([]any)[0].(map[string]any)
	if hit["name"] != "herring" || hit["score"].(float64) <= 0 || hit["match_reason"] != "" || !strings.Contains(hit["abstract"].(string), "herring") {
		t.Errorf("found %v", hit)
	}

	shown := s.call(200, "GET", "/api/v1/skills/herring?include_integrity=true&include_source=true", nil)
	for _, key := range []string{"abstract", "overview", "content", "content_sha256", "files", "revision", "source"} {
		if shown[key] == nil {
			t.Errorf("show lacks %s", key)
		}
	}
	s.same("content", shown["content"], herring)
	one := s.call(200, "GET", "/api/v1/skills/herring?level=1&include_files=false", nil)
	s.same("overview only", []any{one["overview"], one["abstract"], one["content"], one["files"]}, []any{"# Herring\n\nUse the net.", nil, nil, nil})

	s.uploads["ann/u1"] = packed(t, "herring/SKILL.md", herring, "herring/scripts/count.py", "print(1)")
	replaced := s.call(200, "PUT", "/api/v1/skills/herring", map[string]any{"temp_file_id": "u1", "wait": true})
	s.same("replaced", []any{replaced["action"], replaced["auxiliary_files"], replaced["queue_status"] != nil}, []any{"update", 1, true})
	files := s.call(200, "GET", "/api/v1/skills/herring?level=0", nil)["files"].([]any)
	var kinds []string
	for _, f := range files {
		f := f.(map[string]any)
		kinds = append(kinds, f["path"].(string)+" "+f["kind"].(string))
	}
	s.same("files", kinds, []string{"SKILL.md definition", "scripts directory", "scripts/count.py auxiliary"})

	gone := s.call(200, "DELETE", "/api/v1/skills/herring", nil)
	s.same("gone", gone, map[string]any{"estimated_deleted_count": 4, "name": "herring", "privacy_deleted": false, "root_uri": root, "uri": root})
	missing := s.call(404, "DELETE", "/api/v1/skills/herring", nil)
	s.same("missing", missing, map[string]any{"code": "NOT_FOUND", "message": "Skill not found: " + root, "details": map[string]any{"resource": root, "type": "skill"}})
}

// TestSkillsOfArchive stores several skills of one archive, or those that were chosen, and lists what there is.
func TestSkillsOfArchive(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	other := strings.ReplaceAll(herring, "herring", "cod")
	s.uploads["ann/u1"] = packed(t, "a/SKILL.md", herring, "b/SKILL.md", other, "b/n.md", "n")
	list := s.call(200, "POST", "/api/v1/skills", map[string]any{"temp_file_id": "u1", "list_only": true})
	s.same("list_only", list, map[string]any{"total": 2, "skills": []any{
		map[string]any{"name": "herring", "description": "Counts herring in the northern harbour", "path": "a"},
		map[string]any{"name": "cod", "description": "Counts cod in the northern harbour", "path": "b"}}})
	s.same("nothing stored", s.call(200, "GET", "/api/v1/skills", nil)["total"], 0)
	s.same("one", s.call(200, "POST", "/api/v1/skills", map[string]any{"temp_file_id": "u1", "skills": []string{"cod"}})["name"], "cod")
	all := s.call(200, "POST", "/api/v1/skills", map[string]any{"temp_file_id": "u1", "target_uri": "viking://agent/skills"})
	s.same("all", []any{all["total"], len(all["installed"].([]any))}, []any{2, 2})
	s.same("refused", s.call(400, "POST", "/api/v1/skills", map[string]any{"temp_file_id": "u1", "skills": []string{"none"}})["code"], "INVALID_ARGUMENT")
	s.same("two in the place of one", s.call(400, "PUT", "/api/v1/skills/cod", map[string]any{"temp_file_id": "u1"})["code"], "INVALID_ARGUMENT")
}

// TestSkillsRefused lists requests that are refused, with OpenViking's statuses.
func TestSkillsRefused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.uploads["bob/u1"] = []byte(herring)
	for _, c := range []struct {
		status       int
		method, path string
		body         any
		code         string
	}{
		{400, "POST", "/api/v1/skills", map[string]any{}, "INVALID_ARGUMENT"},
		{400, "POST", "/api/v1/skills", map[string]any{"data": herring, "bogus": 1}, "INVALID_ARGUMENT"},
		{400, "POST", "/api/v1/skills", map[string]any{"data": "no front matter"}, "INVALID_ARGUMENT"},
		{403, "POST", "/api/v1/skills", map[string]any{"data": "/etc/passwd"}, "PERMISSION_DENIED"},
		{403, "POST", "/api/v1/skills", map[string]any{"temp_file_id": "u1"}, "PERMISSION_DENIED"},
		{501, "POST", "/api/v1/skills", map[string]any{"data": "https://example.org/skills.git"}, "UNIMPLEMENTED"},
		{400, "POST", "/api/v1/skills", map[string]any{"data": herring, "target_uri": "viking://resources/x"}, "INVALID_ARGUMENT"},
		{403, "POST", "/api/v1/skills", map[string]any{"data": herring, "target_uri": "viking://user/bob/skills"}, "PERMISSION_DENIED"},
		{400, "PUT", "/api/v1/skills/cod", map[string]any{"data": herring}, "INVALID_ARGUMENT"},
		{404, "PUT", "/api/v1/skills/herring", map[string]any{"data": herring}, "NOT_FOUND"},
		{501, "PUT", "/api/v1/skills/herring", map[string]any{"from_source": true}, "UNIMPLEMENTED"},
		{404, "GET", "/api/v1/skills/herring", nil, "NOT_FOUND"},
		{400, "GET", "/api/v1/skills/a%20b", nil, "INVALID_ARGUMENT"},
		{400, "GET", "/api/v1/skills/..%2fx", nil, "INVALID_ARGUMENT"},
		{400, "GET", "/api/v1/skills/herring?level=7", nil, "INVALID_ARGUMENT"},
		{400, "POST", "/api/v1/skills/find", map[string]any{"query": " "}, "INVALID_ARGUMENT"},
		{400, "POST", "/api/v1/skills/find", map[string]any{"query": "x", "limit": -1}, "INVALID_ARGUMENT"},
		{400, "POST", "/api/v1/skills/validate", map[string]any{}, "INVALID_ARGUMENT"},
	} {
		if got := s.call(c.status, c.method, c.path, c.body); got["code"] != c.code {
			t.Errorf("%s %s %v: %v", c.method, c.path, c.body, got)
		}
	}
	report := s.call(200, "POST", "/api/v1/skills/validate", map[string]any{"data": herring, "strict": true, "skill_dir_name": "other"})
	s.same("report", []any{report["valid"], report["strict"], report["body_lines"]}, []any{false, true, 3})
}

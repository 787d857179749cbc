package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/internal/obs"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/tenant"
)

// world is a daemon's handler with two accounts: acme with ann (admin) and bob, evil with eve (admin). The words that begin with canary are
// the tenants' secrets: no request holds one, but those that store them.
type world struct {
	t      *testing.T
	app    *App
	server *server.Server
	keys   map[string]string // by user
	root   string
}

const (
	canaryAnn  = "canaryann"  // ann's own
	canaryAcme = "canaryacme" // shared by the users of acme
	canaryEve  = "canaryeve"
)

func newWorld(t *testing.T) *world {
	t.Helper()
	c := config.Default()
	c.Data, c.RootKey = t.TempDir(), "the root key of this world, long enough"
	o := Options{Config: c, Fleeting: true, Metrics: obs.NewMetrics(slog.New(slog.DiscardHandler))}
	access, err := o.access()
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.register(t.Context(), access); err != nil {
		t.Fatal(err)
	}
	s, err := a.server(access, "127.0.0.1:1933")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, app: a, server: s, keys: map[string]string{}, root: c.RootKey}
	w.settle()
	return w
}

// settle registers the users and has ann and eve store one of everything.
func (w *world) settle() {
	ctx := w.t.Context()
	for _, u := range []tenant.NewUser{{Account: "acme", User: "ann"}, {Account: "acme", User: "bob"}, {Account: "evil", User: "eve"}} {
		make := w.app.Tenants.AddUser
		if u.User != "bob" {
			make = w.app.Tenants.CreateAccount
		}
		key, err := make(ctx, u)
		if err != nil {
			w.t.Fatal(err)
		}
		w.keys[u.User] = key
	}
	w.store("ann", canaryAnn, canaryAcme)
	w.store("eve", canaryEve, canaryEve)
	if got := w.as("bob", request{"POST", "/api/v1/fs/mkdir", `{"uri":"viking://~/notes"}`}); got.Code != 200 {
		w.t.Fatalf("%d %s", got.Code, got.Body)
	}
	if err := w.app.Engine.RunJobs(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) store(user, own, shared string) {
	long := strings.Repeat(own+" is what the tool said. ", 2000)
	for _, r := range []request{
		{"POST", "/api/v1/sessions", `{"session_id":"s1"}`},
		{"POST", "/api/v1/sessions/s1/messages", `{"role":"user","content":"I prefer ` + own + ` tea in the morning. My dog is called ` + own + `."}`},
		{"POST", "/api/v1/sessions/s1/messages", `{"role":"assistant","parts":[{"type":"text","text":"noted"},` +
			`{"type":"tool","tool_id":"t1","tool_name":"look","tool_status":"completed","tool_output":"` + long + `"}]}`},
		{"POST", "/api/v1/sessions/s1/commit", `{}`},
		{"POST", "/api/v1/sessions/s1/messages", `{"role":"user","content":"And ` + own + ` cake."}`},
		{"POST", "/api/v1/sessions/session-of-" + own + "/messages", `{"role":"user","content":"` + own + `"}`},
		{"POST", "/api/v1/fs/mkdir", `{"uri":"viking://~/notes"}`},
		{"POST", "/api/v1/content/write", `{"uri":"viking://~/notes/plan.md","content":"the plan is ` + own + `","mode":"create"}`},
		{"POST", "/api/v1/content/write", `{"uri":"viking://~/notes/` + own + `.md","content":"x","mode":"create"}`},
		{"POST", "/api/v1/content/write", `{"uri":"viking://resources/docs/shared.md","content":"we all know ` + shared + `","mode":"create"}`},
		{"POST", "/api/v1/skills", `{"data":"---\nname: brew\ndescription: how to brew ` + own + `\n---\n\nBrew ` + own + `.\n","target_uri":"viking://~/skills"}`},
		{"POST", "/engine/v1/commit_turn", `{"session":{"session_id":"e1"},"advancement_key":"k","messages":[` +
			`{"message":{"role":"user","content":"` + own + ` from the host"}},{"message":{"role":"assistant","content":"yes"}}]}`},
	} {
		if got := w.as(user, r); got.Code >= 300 {
			w.t.Fatalf("%s: %s %s: %d %s", user, r.method, r.path, got.Code, got.Body)
		}
	}
}

type request struct{ method, path, body string }

// as asks with a user's key.
func (w *world) as(user string, r request) *httptest.ResponseRecorder {
	return w.ask(r, "X-API-Key", w.keys[user])
}

func (w *world) ask(r request, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(r.method, "http://127.0.0.1:1933"+r.path, strings.NewReader(r.body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	got := httptest.NewRecorder()
	w.server.ServeHTTP(got, req)
	return got
}

// forged is every header that could name another identity, with ann's names in them.
var forged = []string{
	"X-OpenViking-Account", "acme", "X-OpenViking-User", "ann", "X-OpenViking-Role", "root", "X-OpenViking-Agent", "main",
	"X-OpenViking-Actor-Peer", "ann", "X-Account-Id", "acme", "X-User-Id", "ann", "X-Forwarded-User", "ann", "Cookie", "user=ann",
}

// print is a fingerprint of all that is stored in the scopes of an account; user "" of all users.
func (w *world) print(account, user string) string {
	w.t.Helper()
	sum := sha256.New()
	err := w.app.store.View(w.t.Context(), func(tx skald.Tx) error {
		scopes, err := tx.Scopes(account)
		if err != nil {
			return err
		}
		for _, s := range scopes {
			if user != "" && s.User != user {
				continue
			}
			if err := fingerprint(tx, s, json.NewEncoder(sum)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func fingerprint(tx skald.Tx, s skald.Scope, out *json.Encoder) error {
	only := []skald.Scope{s}
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: only})
	if err != nil {
		return err
	}
	for _, x := range sessions {
		turns, err := tx.Turns(x.Ref, skald.TurnQuery{})
		if err != nil {
			return err
		}
		archives, err := tx.Archives(x.Ref, 1)
		if err != nil {
			return err
		}
		if err := out.Encode([]any{x, turns, archives}); err != nil {
			return err
		}
	}
	memories, err := tx.Memories(skald.MemoryQuery{Scopes: only})
	if err != nil {
		return err
	}
	files, err := tx.Files(skald.FileQuery{Scopes: only})
	if err != nil {
		return err
	}
	jobs, err := tx.Jobs(only, 0)
	if err != nil {
		return err
	}
	return out.Encode([]any{s, memories, files, jobs})
}

// job is the id of ann's commit.
func (w *world) job() string {
	w.t.Helper()
	var id string
	err := w.app.store.View(w.t.Context(), func(tx skald.Tx) error {
		jobs, err := tx.Jobs([]skald.Scope{{Account: "acme", Kind: skald.ScopeUser, User: "ann"}}, 1)
		for _, j := range jobs {
			id = fmt.Sprint(j.ID)
		}
		return err
	})
	if err != nil || id == "" {
		w.t.Fatalf("ann has no job: %v", err)
	}
	return id
}

// result is the id of the tool's result that ann has.
func (w *world) result() string {
	w.t.Helper()
	got := w.as("ann", request{"GET", "/api/v1/sessions/s1/tool-results", ""})
	var answer struct {
		Result struct {
			List []struct {
				ID string `json:"tool_result_id"`
			} `json:"tool_results"`
		} `json:"result"`
	}
	if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil || len(answer.Result.List) == 0 {
		w.t.Fatalf("ann has no result of a tool: %s", got.Body)
	}
	return answer.Result.List[0].ID
}

// TestEveryRouteKeepsTenantsApart tries every route of the daemon as nobody, with a bad key, as a user of another account, as another user of
// the account, and as the root key, each with every identity header forged: no answer holds a word of another tenant, nothing of another
// tenant's changes, and the status is right (I9).
func TestEveryRouteKeepsTenantsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.control()
	routes := routesOf(t, w.server)
	rows := attacks(w.job(), w.result())
	for pattern := range rows {
		if !slices.Contains(routes, pattern) {
			t.Errorf("there is no route %s any more: take its row out", pattern)
		}
	}
	acme, ann := w.print("acme", ""), w.print("acme", "ann")
	for _, pattern := range routes {
		row, ok := rows[pattern]
		if !ok {
			t.Errorf("%s has no row: say in attacks how it is tried", pattern)
			continue
		}
		w.nobody(pattern, row)
		w.rootKey(pattern, row)
		w.foreigner(pattern, row, "eve", canaryAnn, canaryAcme)
		if now := w.print("acme", ""); now != acme {
			t.Errorf("%s: eve has changed what is acme's", pattern)
			acme, ann = now, w.print("acme", "ann")
		}
	}
	for _, pattern := range routes {
		w.foreigner(pattern, rows[pattern], "bob", canaryAnn, canaryEve)
		if now := w.print("acme", "ann"); now != ann {
			t.Errorf("%s: bob has changed what is ann's", pattern)
			ann = now
		}
	}
	w.control()
}

// control shows that the secrets can be found by those whose they are, so that not finding them says something.
func (w *world) control() {
	w.t.Helper()
	for _, r := range []request{
		{"GET", "/api/v1/sessions", ""},
		{"GET", "/api/v1/sessions/s1/context", ""},
		{"GET", "/api/v1/fs/ls?uri=viking://~/notes", ""},
		{"GET", "/api/v1/content/read?uri=viking://~/notes/plan.md", ""},
		{"POST", "/api/v1/search/find", `{"query":"which tea in the morning"}`},
		{"POST", "/api/v1/search/grep", `{"uri":"viking://~","pattern":"tea"}`},
		{"GET", "/engine/v1/find?query=tea+in+the+morning", ""},
		{"GET", "/engine/v1/sessions", ""},
	} {
		if got := w.as("ann", r); got.Code != 200 || !strings.Contains(got.Body.String(), canaryAnn) {
			w.t.Errorf("ann does not find her own by %s %s: %d %.300s", r.method, r.path, got.Code, got.Body)
		}
	}
}

func (w *world) nobody(pattern string, row []attack) {
	w.t.Helper()
	for _, a := range row {
		for name, headers := range map[string][]string{
			"nobody": forged, "a bad key": append([]string{"X-API-Key", "bad"}, forged...), "a wrong scheme": {"Authorization", "Basic YTpi"},
		} {
			got := w.ask(a.request, headers...)
			want := http.StatusUnauthorized
			if a.open {
				want = http.StatusOK
			}
			if got.Code != want {
				w.t.Errorf("%s as %s: %d, want %d", pattern, name, got.Code, want)
			}
			w.secret(pattern, name, got, canaryAnn, canaryAcme, canaryEve)
		}
	}
}

// rootKey manages and has no data.
func (w *world) rootKey(pattern string, row []attack) {
	w.t.Helper()
	for _, a := range row {
		if a.destroys {
			continue
		}
		got := w.ask(a.request, append([]string{"X-API-Key", w.root}, forged...)...)
		if !a.open && !a.managed && got.Code != http.StatusForbidden {
			w.t.Errorf("%s with the root key: %d, want 403", pattern, got.Code)
		}
		if a.managed && (got.Code == http.StatusForbidden || got.Code == http.StatusUnauthorized) {
			w.t.Errorf("%s with the root key: %d", pattern, got.Code)
		}
		w.secret(pattern, "root", got, canaryAnn, canaryAcme, canaryEve)
	}
}

func (w *world) foreigner(pattern string, row []attack, user string, secrets ...string) {
	w.t.Helper()
	for _, a := range row {
		for _, headers := range [][]string{nil, forged} {
			got := w.ask(a.request, append([]string{"X-API-Key", w.keys[user]}, headers...)...)
			w.secret(pattern, user, got, secrets...)
			switch {
			case got.Code == http.StatusUnauthorized:
				w.t.Errorf("%s: %s is not let in: %s", pattern, user, got.Body)
			case got.Code == http.StatusInternalServerError:
				w.t.Errorf("%s as %s: %d %s", pattern, user, got.Code, got.Body)
			case a.refused && got.Code != http.StatusForbidden && got.Code != http.StatusNotImplemented:
				w.t.Errorf("%s as %s: %d, want 403: %.200s", pattern, user, got.Code, got.Body)
			}
		}
	}
}

func (w *world) secret(pattern, who string, got *httptest.ResponseRecorder, secrets ...string) {
	w.t.Helper()
	var all bytes.Buffer
	_ = got.Result().Header.Write(&all)
	all.Write(got.Body.Bytes())
	for _, s := range secrets {
		if bytes.Contains(all.Bytes(), []byte(s)) {
			w.t.Errorf("%s tells %s of %s: %.400s", pattern, who, s, all.String())
		}
	}
}

// TestKeysAreNotOnDisk: after a key was made, used and renewed, no file of the data folder holds it, or its secret part.
func TestKeysAreNotOnDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	renewed := w.as("ann", request{"POST", "/api/v1/admin/accounts/acme/users/bob/key", `{"seed":"a seed that nobody guesses"}`})
	var answer struct {
		Result struct {
			Key string `json:"user_key"`
		} `json:"result"`
	}
	if err := json.Unmarshal(renewed.Body.Bytes(), &answer); err != nil || renewed.Code != 200 {
		t.Fatalf("%d %s", renewed.Code, renewed.Body)
	}
	if got := w.as("bob", request{"GET", "/api/v1/system/status", ""}); got.Code != 401 {
		t.Errorf("the old key still works: %d", got.Code)
	}
	w.keys["bob"] = answer.Result.Key
	if got := w.as("bob", request{"GET", "/api/v1/system/status", ""}); got.Code != 200 {
		t.Errorf("the new key does not work: %d", got.Code)
	}
	files := 0
	err := filepath.WalkDir(w.app.options.Config.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for user, key := range w.keys {
			secret := key[strings.LastIndexByte(key, '.')+1:]
			if bytes.Contains(body, []byte(key)) || bytes.Contains(body, []byte(secret)) {
				t.Errorf("%s holds the key of %s", filepath.Base(path), user)
			}
		}
		if bytes.Contains(body, []byte("a seed that nobody guesses")) || bytes.Contains(body, []byte(w.root)) {
			t.Errorf("%s holds the seed or the root key", filepath.Base(path))
		}
		return nil
	})
	if err != nil || files < 2 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// TestDeletedUsersLeaveNothing: a user who is deleted through the API is erased by the background, file and word, and the rest stays.
func TestDeletedUsersLeaveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.keys["ann"]
	w.keys["boss"] = w.root
	evil := w.print("evil", "")
	got := w.as("boss", request{"DELETE", "/api/v1/admin/accounts/acme/users/ann", ""})
	if got.Code != http.StatusAccepted || !strings.Contains(got.Body.String(), `"status":"deleting"`) {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if got := w.ask(request{"GET", "/api/v1/sessions", ""}, "X-API-Key", key); got.Code != 401 {
		t.Errorf("the key still works: %d", got.Code)
	}
	if got := w.as("boss", request{"POST", "/api/v1/admin/accounts/acme/users", `{"user_id":"ann"}`}); got.Code != 409 {
		t.Errorf("the name is free at once: %d", got.Code)
	}
	if err := w.app.Engine.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.as("boss", request{"GET", "/api/v1/tasks", ""}); !strings.Contains(got.Body.String(), `"task_type":"user_delete"`) ||
		!strings.Contains(got.Body.String(), `"resource_id":"acme/ann"`) || !strings.Contains(got.Body.String(), `"result":{"deleted":true}`) {
		t.Errorf("the root sees no task of it: %s", got.Body)
	}
	if left := w.print("acme", "ann"); left != w.empty("acme", "ann") {
		t.Error("something of ann's is left")
	}
	if w.print("evil", "") != evil {
		t.Error("evil has lost something, too")
	}
	if got := w.as("bob", request{"GET", "/api/v1/content/read?uri=viking://resources/docs/shared.md", ""}); !strings.Contains(got.Body.String(), canaryAcme) {
		t.Errorf("what the account shares is gone: %s", got.Body)
	}
	for _, file := range []string{"skald.db", "skald.db-wal"} {
		body, err := os.ReadFile(filepath.Join(w.app.options.Config.Data, file))
		if err == nil && file == "skald.db" && bytes.Contains(body, []byte("the plan is "+canaryAnn)) {
			t.Errorf("%s still holds ann's words", file)
		}
	}
	if got := w.as("boss", request{"POST", "/api/v1/admin/accounts/acme/users", `{"user_id":"ann"}`}); got.Code != 200 {
		t.Errorf("the name is not free afterwards: %d %s", got.Code, got.Body)
	}
}

// empty is the fingerprint of scopes in which nothing is.
func (w *world) empty(account, user string) string {
	sum := sha256.New()
	err := w.app.store.View(context.Background(), func(tx skald.Tx) error {
		scopes, err := tx.Scopes(account)
		for _, s := range scopes {
			if s.User == user {
				if err := json.NewEncoder(sum).Encode([]any{s, []skald.Memory(nil), []skald.File(nil), []skald.Job(nil)}); err != nil {
					return err
				}
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

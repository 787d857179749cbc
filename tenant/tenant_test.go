package tenant_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/tenant"
)

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// open is a registry on a store whose clock goes on by a second at every look.
func open(t *testing.T, store skald.Store) *tenant.Registry {
	t.Helper()
	now := day
	r, err := tenant.Open(t.Context(), store, func() time.Time { now = now.Add(time.Second); return now })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantKind(t *testing.T, what string, err error, kind skald.Kind) {
	t.Helper()
	if skald.KindOf(err) != kind {
		t.Errorf("%s: %v, want %s", what, err, kind)
	}
}

func find(r *tenant.Registry, key string) (skald.Identity, bool) {
	return r.Find(sha256.Sum256([]byte(key)))
}

func TestKeysAreOpenVikings(t *testing.T) {
	t.Parallel()
	r := open(t, memory.New())
	key := must(r.CreateAccount(t.Context(), tenant.NewUser{Account: "acme", User: "ann"}))(t)
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		t.Fatalf("%q has %d parts", key, len(parts))
	}
	var text []string
	for _, p := range parts {
		text = append(text, string(must(base64.RawURLEncoding.DecodeString(p))(t)))
	}
	if text[0] != "acme" || text[1] != "ann" || len(text[2]) != 64 || strings.Trim(text[2], "0123456789abcdef") != "" {
		t.Errorf("key %q", text)
	}
	// The real server derives this one from the same words.
	seeded := must(r.CreateAccount(t.Context(), tenant.NewUser{Account: "seeded", User: "ann", Seed: "s1"}))(t)
	const want = "c2VlZGVk.YW5u.OTA5ZTEzZWMzOTRmNzM4OWFhZDNhMmE3ZWZkY2U0Yjc3MDQ4OTEwMThjYTNiNzVjYmNmOTAzZjZjNDlhMzU2NA"
	if seeded != want {
		t.Errorf("seeded key %s", seeded)
	}
	if id, ok := find(r, seeded); !ok || id.Account != "seeded" || id.User != "ann" {
		t.Errorf("%v %v", id, ok)
	}
	if _, ok := find(r, seeded[:len(seeded)-1]); ok {
		t.Error("a part of a key is a key")
	}
}

func TestAccountsAndUsers(t *testing.T) {
	t.Parallel()
	ctx, r := t.Context(), open(t, memory.New())
	must(r.CreateAccount(ctx, tenant.NewUser{Account: "acme", User: "ann"}))(t)
	must(r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "bob"}))(t)
	must(r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "gate", NoKey: true}))(t)

	_, err := r.CreateAccount(ctx, tenant.NewUser{Account: "acme", User: "x"})
	wantKind(t, "the account again", err, skald.KindExists)
	_, err = r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "bob"})
	wantKind(t, "the user again", err, skald.KindExists)
	_, err = r.AddUser(ctx, tenant.NewUser{Account: "none", User: "bob"})
	wantKind(t, "no account", err, skald.KindNotFound)
	_, err = r.Users(ctx, "none", tenant.UserQuery{})
	wantKind(t, "users of no account", err, skald.KindNotFound)
	wantKind(t, "promote nobody", r.Promote(ctx, "acme", "zed"), skald.KindNotFound)
	_, err = r.NewKey(ctx, "acme", "zed", "")
	wantKind(t, "key of nobody", err, skald.KindNotFound)
	for _, bad := range []string{"", "a/b", "..", "a|b", "a b", "_acme", "a@b@c", strings.Repeat("a", 129)} {
		_, err := r.CreateAccount(ctx, tenant.NewUser{Account: bad, User: "ann"})
		wantKind(t, "account "+bad, err, skald.KindInvalid)
	}
	_, err = r.CreateAccount(ctx, tenant.NewUser{Account: "half", User: "../x"})
	wantKind(t, "an account with a bad admin", err, skald.KindInvalid)

	if accounts := must(r.Accounts(ctx))(t); len(accounts) != 1 || accounts[0].ID != "acme" || accounts[0].Users != 3 || accounts[0].Status != "active" {
		t.Errorf("%+v", accounts)
	}
	names := func(q tenant.UserQuery) (out []string) {
		for _, u := range must(r.Users(ctx, "acme", q))(t) {
			out = append(out, u.ID+" "+string(u.Role))
		}
		return out
	}
	for want, q := range map[string]tenant.UserQuery{
		"ann admin,bob user,gate user": {}, "ann admin": {Limit: 1}, "bob user": {Name: "b*"}, "bob user,gate user": {Role: skald.RankUser}, "": {Name: "z"},
	} {
		if got := strings.Join(names(q), ","); got != want {
			t.Errorf("%+v: %s", q, got)
		}
	}
	must(struct{}{}, r.Promote(ctx, "acme", "bob"))(t)
	if id := must(r.Admit(skald.Identity{Account: "acme", User: "bob"}))(t); id.Rank != skald.RankAdmin {
		t.Errorf("bob is %s", id.Rank)
	}
	if id := must(r.Admit(skald.Identity{Account: "acme", User: "nobody"}))(t); id.Rank != skald.RankUser {
		t.Errorf("nobody is %s", id.Rank)
	}
	if id := must(r.Admit(skald.Identity{Account: "acme", User: "bob", Rank: skald.RankUser}))(t); id.Rank != skald.RankUser {
		t.Error("an asserted rank is raised")
	}
}

// A new key makes the old one worthless at once, and after a restart the same holds.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	store := memory.New()
	r := open(t, store)
	old := must(r.CreateAccount(t.Context(), tenant.NewUser{Account: "acme", User: "ann"}))(t)
	renewed := must(r.NewKey(t.Context(), "acme", "ann", ""))(t)
	for _, r := range []*tenant.Registry{r, open(t, store)} {
		if _, ok := find(r, old); ok {
			t.Error("the old key works")
		}
		if _, ok := find(r, renewed); !ok {
			t.Error("the new key does not work")
		}
	}
}

// No record holds a key or its secret part, and no listing shows more than its first characters.
func TestKeysAreNotKept(t *testing.T) {
	t.Parallel()
	store := memory.New()
	r := open(t, store)
	key := must(r.CreateAccount(t.Context(), tenant.NewUser{Account: "acme", User: "ann", Seed: "the seed"}))(t)
	var all []byte
	for _, kind := range []string{"account", "user"} {
		list := records(t, store, kind)
		if len(list) != 1 {
			t.Fatalf("%d records of kind %s", len(list), kind)
		}
		all = append(all, list[0].Body...)
	}
	shown := must(json.Marshal(must(r.Users(t.Context(), "acme", tenant.UserQuery{}))(t)))(t)
	secret := key[strings.LastIndexByte(key, '.')+1:]
	for _, text := range []string{string(all), string(shown)} {
		if strings.Contains(text, key) || strings.Contains(text, secret) || strings.Contains(text, secret[:12]) || strings.Contains(text, "the seed") {
			t.Errorf("the key is in %s", text)
		}
	}
	if !strings.Contains(string(shown), `"key_prefix":"`+secret[:8]+`"`) {
		t.Errorf("no prefix: %s", shown)
	}
}

func records(t *testing.T, store skald.Store, kind string) (list []skald.Record) {
	t.Helper()
	err := store.View(t.Context(), func(tx skald.Tx) (err error) {
		list, err = tx.Records(skald.RecordQuery{Kind: kind})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSettings(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), memory.New()
	r := open(t, store)
	must(r.CreateAccount(ctx, tenant.NewUser{Account: "acme", User: "ann"}))(t)
	id := skald.Identity{Account: "acme", User: "ann", Agent: "main"}
	if got := must(r.Admit(id))(t); got.Policy != nil || r.Evolution("acme") != nil {
		t.Error("settings that nobody made")
	}
	on := true
	must(r.ChangeSettings(ctx, "acme", tenant.Settings{Policy: &skald.Policy{IsolateUserScopeByAgent: true}}))(t)
	must(r.ChangeSettings(ctx, "acme", tenant.Settings{Evolution: &on}))(t)
	must(r.ChangeUserConfig(ctx, "acme", "ann", func(c *tenant.UserConfig) { c.Targets.Resource = "viking://resources/x" }))(t)
	r = open(t, store)
	got := must(r.Admit(id))(t)
	if got.Policy == nil || (skald.Policy{}).UserScope(got).Agent != "main" || r.Evolution("acme") == nil || r.Policy("acme") != got.Policy {
		t.Errorf("%+v", got)
	}
	if c := r.Config(id); c.Targets.Resource != "viking://resources/x" {
		t.Errorf("%+v", c)
	}
	_, err := r.ChangeSettings(ctx, "none", tenant.Settings{})
	wantKind(t, "no account", err, skald.KindNotFound)
}

// fill stores one of everything that a tenant can have.
func fill(t *testing.T, store skald.Store, scope skald.Scope) {
	t.Helper()
	ref := skald.SessionRef{Scope: scope, ID: "s1"}
	root := scope.RootURI()
	err := store.Update(t.Context(), func(tx skald.Tx) error {
		return errors.Join(
			tx.PutSession(skald.Session{Ref: ref, Created: day, Updated: day}),
			tx.AppendTurns(ref, []skald.Turn{{Seq: 1, Raw: []byte(`{"role":"user","content":"canary"}`)}}),
			tx.PutMemory(skald.Memory{URI: root.Join("memories", "profile.md"), Scope: scope, Type: skald.MemoryProfile, Text: "canary"}),
			tx.PutFile(skald.File{Scope: scope, URI: root.Join("canary.md"), Body: []byte("canary")}),
			tx.PutRecord(skald.Record{Scope: scope, Kind: "watch", ID: "1", Body: []byte(`"canary"`)}),
			tx.PutDocs([]skald.Doc{{Scope: scope, Kind: skald.DocMemory, URI: root.Join("memories", "profile.md"), Terms: []string{"canary"}, Length: 1}}),
			tx.PutJob(skald.Job{Key: scope.Key(), Session: ref, State: skald.JobReady}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// left counts what is stored in a scope.
func left(t *testing.T, store skald.Store, scope skald.Scope) (n int) {
	t.Helper()
	only := []skald.Scope{scope}
	err := store.View(t.Context(), func(tx skald.Tx) error {
		sessions, e1 := tx.Sessions(skald.SessionQuery{Scopes: only})
		turns, e2 := tx.Turns(skald.SessionRef{Scope: scope, ID: "s1"}, skald.TurnQuery{})
		memories, e3 := tx.Memories(skald.MemoryQuery{Scopes: only})
		files, e4 := tx.Files(skald.FileQuery{Scopes: only})
		recs, e5 := tx.Records(skald.RecordQuery{Scopes: only, Kind: "watch"})
		found, e6 := tx.Search(skald.SearchQuery{Scopes: only, Terms: []string{"canary"}})
		jobs, e7 := tx.Jobs(only, 0)
		n = len(sessions) + len(turns) + len(memories) + len(files) + len(recs) + len(found.Hits) + len(jobs)
		return errors.Join(e1, e2, e3, e4, e5, e6, e7)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// work does the one job of a kind that waits.
func work(t *testing.T, r *tenant.Registry, store skald.Store, task string) error {
	t.Helper()
	var jobs []skald.Job
	err := store.View(t.Context(), func(tx skald.Tx) (err error) {
		jobs, err = tx.Jobs(nil, 0)
		return err
	})
	for _, j := range jobs {
		if (j.Kind == tenant.JobDeleteUser || j.Kind == tenant.JobDeleteAccount) && task == taskOf(j) {
			_, err := r.Work(t.Context(), j, nil)
			return err
		}
	}
	t.Fatalf("no job %s (%v)", task, err)
	return nil
}

func taskOf(j skald.Job) string { b, _ := json.Marshal(j.ID); return string(b) }

var (
	ann      = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "ann"}
	annAgent = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "ann", Agent: "main"}
	agentAnn = skald.Scope{Account: "acme", Kind: skald.ScopeAgent, User: "ann", Agent: "main"}
	bob      = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "bob"}
	agent    = skald.Scope{Account: "acme", Kind: skald.ScopeAgent, Agent: "main"}
	shared   = skald.Scope{Account: "acme", Kind: skald.ScopeResources}
	eve      = skald.Scope{Account: "evil", Kind: skald.ScopeUser, User: "ann"} // of the same name
)

// IDN-05: what is deleted is gone in every way of asking, and nobody else's is touched.
func TestDeleteUserErasesHerData(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), memory.New()
	r := open(t, store)
	key := must(r.CreateAccount(ctx, tenant.NewUser{Account: "acme", User: "ann"}))(t)
	must(r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "bob"}))(t)
	must(r.CreateAccount(ctx, tenant.NewUser{Account: "evil", User: "ann"}))(t)
	for _, s := range []skald.Scope{ann, annAgent, agentAnn, bob, agent, shared, eve} {
		fill(t, store, s)
	}
	cite(t, store, agent, skald.SessionRef{Scope: ann, ID: "s1"})
	woken := 0
	r.Notify(func() { woken++ })

	d := must(r.DeleteUser(ctx, bob, "acme", "ann"))(t)
	again := must(r.DeleteUser(ctx, bob, "acme", "ann"))(t)
	if d != again || d.Status != "deleting" || woken == 0 {
		t.Errorf("%+v %+v, woken %d times", d, again, woken)
	}
	if _, ok := find(r, key); ok {
		t.Error("the key still works")
	}
	var busy *tenant.BeingDeleted
	if _, err := r.Admit(skald.Identity{Account: "acme", User: "ann"}); !errors.As(err, &busy) || busy.Task != d.Task {
		t.Errorf("admitted: %v", err)
	}
	if _, err := r.NewKey(ctx, "acme", "ann", ""); !errors.As(err, &busy) {
		t.Errorf("a new key: %v", err)
	}
	_, err := r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "ann"})
	wantKind(t, "the name is not free yet", err, skald.KindExists)

	r = open(t, store) // a restart does not forget it
	if err := work(t, r, store, d.Task); err != nil {
		t.Fatal(err)
	}
	for scope, want := range map[skald.Scope]bool{ann: false, annAgent: false, agentAnn: false, bob: true, agent: true, shared: true, eve: true} {
		if got := left(t, store, scope); (got > 0) != want {
			t.Errorf("%s: %d things left", scope.Key(), got)
		}
	}
	if s := sourcesOf(t, store, agent); len(s) != 1 || s[0].Deleted.IsZero() {
		t.Errorf("the agent's memory names an erased session: %+v", s)
	}
	must(r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "ann"}))(t)
	if err := work(t, r, store, d.Task); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("an old job erases the new user of that name: %v", err)
	}
}

func cite(t *testing.T, store skald.Store, scope skald.Scope, ref skald.SessionRef) {
	t.Helper()
	err := store.Update(t.Context(), func(tx skald.Tx) error {
		m, err := tx.Memory(scope, scope.RootURI().Join("memories", "profile.md"))
		m.Sources = []skald.MemorySource{{Session: ref, From: 1, To: 1}}
		return errors.Join(err, tx.PutMemory(m))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sourcesOf(t *testing.T, store skald.Store, scope skald.Scope) (s []skald.MemorySource) {
	t.Helper()
	err := store.View(t.Context(), func(tx skald.Tx) error {
		m, err := tx.Memory(scope, scope.RootURI().Join("memories", "profile.md"))
		s = m.Sources
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDeleteAccountErasesAllOfIt(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), memory.New()
	r := open(t, store)
	key := must(r.CreateAccount(ctx, tenant.NewUser{Account: "acme", User: "ann"}))(t)
	must(r.CreateAccount(ctx, tenant.NewUser{Account: "evil", User: "ann"}))(t)
	for _, s := range []skald.Scope{ann, bob, agent, shared, eve} {
		fill(t, store, s)
	}
	d := must(r.DeleteAccount(ctx, bob, "acme"))(t) // asked for from within: the job goes with the scope
	if _, ok := find(r, key); ok {
		t.Error("the key still works")
	}
	var busy *tenant.BeingDeleted
	if _, err := r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "new"}); !errors.As(err, &busy) {
		t.Errorf("a user in it: %v", err)
	}
	if err := work(t, r, store, d.Task); err != nil {
		t.Fatal(err)
	}
	for scope, want := range map[skald.Scope]bool{ann: false, bob: false, agent: false, shared: false, eve: true} {
		if got := left(t, store, scope); (got > 0) != want {
			t.Errorf("%s: %d things left", scope.Key(), got)
		}
	}
	if list := must(open(t, store).Accounts(ctx))(t); len(list) != 1 || list[0].ID != "evil" {
		t.Errorf("%+v", list)
	}
	_, err := r.DeleteAccount(ctx, bob, "acme")
	wantKind(t, "again", err, skald.KindNotFound)
}

// A deletion whose job is lost gets a new one at the next start.
func TestResume(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), memory.New()
	r := open(t, store)
	must(r.CreateAccount(ctx, tenant.NewUser{Account: "acme", User: "ann"}))(t)
	must(r.AddUser(ctx, tenant.NewUser{Account: "acme", User: "bob"}))(t)
	fill(t, store, ann)
	d := must(r.DeleteUser(ctx, bob, "acme", "ann"))(t)
	if err := r.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if same := must(r.DeleteUser(ctx, bob, "acme", "ann"))(t); same != d {
		t.Errorf("a job that waits was replaced: %+v", same)
	}
	if err := store.Update(ctx, func(tx skald.Tx) error { return tx.DeleteScope(bob) }); err != nil {
		t.Fatal(err)
	}
	r = open(t, store)
	if err := r.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	renewed := must(r.DeleteUser(ctx, bob, "acme", "ann"))(t)
	if renewed.Task == d.Task {
		t.Fatal("no new job")
	}
	if err := work(t, r, store, renewed.Task); err != nil || left(t, store, ann) != 0 {
		t.Errorf("%v, %d left", err, left(t, store, ann))
	}
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	ctx, r := t.Context(), open(t, memory.New())
	id := skald.Identity{Account: "default", User: "default"}
	for range 2 {
		if err := r.Keep(ctx, id, skald.RankAdmin); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.DeleteUser(ctx, bob, "default", "default"); !errors.Is(err, tenant.ErrConfigured) {
		t.Errorf("a configured user is deleted: %v", err)
	}
	if _, err := r.DeleteAccount(ctx, bob, "default"); !errors.Is(err, tenant.ErrConfigured) {
		t.Errorf("a configured user's account is deleted: %v", err)
	}
	users := must(r.Users(ctx, "default", tenant.UserQuery{}))(t)
	if len(users) != 1 || users[0].Role != skald.RankAdmin || users[0].KeyPrefix != "" {
		t.Errorf("%+v", users)
	}
	if err := r.Ensure(ctx, skald.Identity{Account: "default", User: "two"}, skald.RankUser); err != nil {
		t.Fatal(err)
	}
	if list := must(r.Accounts(ctx))(t); len(list) != 1 || list[0].Users != 2 {
		t.Errorf("%+v", list)
	}
}

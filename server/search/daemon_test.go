package search_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/backend"
	"github.com/skald-engine/skald/server/search"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/tree"
)

// now is the time of every daemon's clock.
var now = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

var (
	policy   skald.Policy
	ann      = skald.Identity{Account: "acme", User: "ann", Agent: "main"}
	bob      = skald.Identity{Account: "acme", User: "bob", Agent: "main"}
	annScope = policy.UserScope(ann)
	shared   = skald.Scope{Account: "acme", Kind: skald.ScopeResources}
)

// daemon is a server on the real engine, called with a key.
type daemon struct {
	testing.TB
	store skald.Store
	http  http.Handler
	key   string
}

// start makes a daemon with the world of fill in its store.
func start(t testing.TB) daemon {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	d := startOn(t, store)
	d.update(fill)
	d.say("s1", "user", "We deploy the walrus service to host alpha-7 in Tokyo.")
	d.say("s1", "assistant", "Noted: alpha-7, port 5544.")
	return d
}

func startOn(t testing.TB, store skald.Store) daemon {
	t.Helper()
	e, err := engine.New(store, engine.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	keys := []server.Key{{Key: "key-ann", Account: "acme", User: "ann"}, {Key: "key-bob", Account: "acme", User: "bob"}}
	access, err := server.NewAccess("127.0.0.1:1933", false, skald.Identity{}, keys)
	if err != nil {
		t.Fatal(err)
	}
	b := backend.New(e, store)
	h, err := server.New(server.Deps{
		Engine: e, Inspector: e, API: b, Parts: api.Deps{Search: search.New(e, store)}, Access: access, Loopback: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return daemon{TB: t, store: store, http: h, key: "key-ann"}
}

func (d daemon) update(fn func(skald.Tx) error) {
	d.Helper()
	if err := d.store.Update(context.Background(), fn); err != nil {
		d.Fatal(err)
	}
}

// call posts a body and returns status and answer.
func (d daemon) call(path, body string, header ...string) (int, string, http.Header) {
	d.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1933"+path, strings.NewReader(body))
	r.Header.Set("X-API-Key", d.key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.http.ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Header()
}

func (d daemon) say(session, role, text string) {
	d.Helper()
	if code, body, _ := d.call("/api/v1/sessions/"+session+"/messages", `{"role":"`+role+`","content":"`+text+`"}`); code != http.StatusOK {
		d.Fatal(code, body)
	}
}

func day(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }

// fill puts a small world into a store: ann's memories, one of her peer cara, the account's files and a skill.
func fill(tx skald.Tx) error {
	for _, m := range []skald.Memory{
		note("preferences/tea.md", "Ann prefers green walrus tea over coffee.", 1, "mood=calm"),
		note("events/2026/03/trip.md", "Ann saw a walrus at the Tokyo zoo.", 2, "mood=good", "place=tokyo"),
		note("entities/bob.md", "Bob is the walrus that lives in the Tokyo zoo.", 3),
		note("events/2026/03/old.md", "The walrus service listens on port 4411.", 4),
		note("entities/zh.md", "安喜欢在东京的海象咖啡馆喝茶。", 5),
		peers("cara", "events/osaka.md", "Cara saw a walrus in Osaka.", 6),
	} {
		if strings.HasSuffix(string(m.URI), "old.md") {
			m.Superseded = annScope.RootURI().Join("memories/events/2026/03/new.md")
		}
		if strings.HasSuffix(string(m.URI), "tea.md") {
			m.Uses = 4
			m.Sources = []skald.MemorySource{{Session: skald.SessionRef{Scope: annScope, ID: "s0"}, From: 3, To: 4}}
			m.Session, m.Archive = "s0", 2
		}
		if err := tx.PutMemory(m); err != nil {
			return err
		}
		if err := tx.PutDocs(index.DocsOfMemory(m)); err != nil {
			return err
		}
	}
	long := "# Guide\n\n" + strings.Repeat("Walrus daemons need fish and water every day of the week. ", 60)
	for _, f := range []skald.File{
		file(shared, "guide/install.md", "# Install\n\nRun make install to set up the walrus daemon on port 9999.", 7, "lang=en", "team=infra"),
		file(shared, "guide/upgrade.md", "# Upgrade\n\nStop the walrus daemon, replace the binary, start it again.", 8, "lang=en"),
		file(shared, "guide/long.md", long, 9),
		file(shared, "notes/部署 notes.v2.md", "# 部署\n\n海象守护进程监听端口九千。数据库 db_main.users 在东京。", 10, "lang=zh"),
		file(shared, "code/pkg.go", "package walrus\n\n// FeedAll calls pool_v2.Submit for each herd-id.\nfunc FeedAll() {}\n", 11),
		file(annScope, "resources/private.md", "# Private\n\nThe walrus vault code is 7731.", 12),
		{Scope: skald.Scope{Account: "acme", Kind: skald.ScopeSkills}, URI: "viking://agent/skills/feed/SKILL.md", Modified: day(13),
			Body: []byte("---\nname: feed\ndescription: How to feed a walrus\n---\n\nThrow fish to the walrus.")},
		{Scope: shared, URI: "viking://resources/guide", Dir: true, Modified: day(14), Abstract: "Guides for the walrus daemon",
			Overview: "# guide\n\nInstall and upgrade of the walrus daemon."},
	} {
		if err := tree.Put(tx, f); err != nil {
			return err
		}
	}
	return nil
}

func note(name, text string, on int, tags ...string) skald.Memory {
	kind, _, _ := strings.Cut(name, "/")
	return skald.Memory{
		URI: annScope.RootURI().Join("memories", name), Scope: annScope, Type: skald.MemoryType(kind), Text: text, Tags: tags,
		Created: day(on), Updated: day(on), Origin: skald.OriginOwner, Audience: skald.AudienceDirect,
	}
}

func peers(peer, name, text string, on int) skald.Memory {
	m := note(name, text, on)
	m.URI = annScope.RootURI().Join("peers", peer, "memories", name)
	return m
}

func file(scope skald.Scope, name, text string, on int, tags ...string) skald.File {
	return skald.File{
		Scope: scope, URI: scope.RootURI().Join(name), Body: []byte(text), Created: day(on), Modified: day(on), Tags: tags,
	}
}

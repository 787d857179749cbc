package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

var (
	sharedScope = skald.Scope{Account: "default", Kind: skald.ScopeResources}
	skillScope  = skald.Scope{Account: "default", Kind: skald.ScopeSkills}
	everyScope  = []skald.Scope{userScope, sharedScope, skillScope}
)

// file stores a file, or a folder with an overview, and indexes it as package tree does.
func (w *world) file(scope skald.Scope, name, text string) {
	w.t.Helper()
	f := skald.File{Scope: scope, URI: scope.RootURI().Join(name), Body: []byte(text), Modified: now.AddDate(0, 0, -3)}
	uri, kind := f.URI, skald.DocResource
	if scope == skillScope {
		kind = skald.DocSkill
	}
	if strings.HasSuffix(name, "/") {
		f.URI = skald.URI(strings.TrimSuffix(string(f.URI), "/"))
		f.Dir, f.Body, f.Overview, uri = true, nil, text, f.URI.Join(index.OverviewName)
	}
	w.update(func(tx skald.Tx) error {
		if err := tx.PutFile(f); err != nil {
			return err
		}
		return tx.PutDocs(index.Marked(index.DocsOfText(skald.Doc{Scope: scope, Kind: kind, URI: uri, Time: f.Modified}, text), nil))
	})
}

// recallAll recalls from files, too.
func (w *world) recallAll(query string, change ...func(*recall.Request)) recall.Result {
	w.t.Helper()
	everywhere := func(r *recall.Request) { r.Scopes = everyScope }
	return w.recall(query, append([]func(*recall.Request){everywhere}, change...)...)
}

func uris(res recall.Result) []skald.URI {
	var out []skald.URI
	for _, it := range res.Items {
		out = append(out, it.URI)
	}
	return out
}

func TestFilesAreRecalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("s1", skald.RoleUser, "My walrus is called Bob.")
	w.file(sharedScope, "guide/vault.md", "# Vault\n\nThe vault opens with the code 7731.")
	w.file(sharedScope, "guide/", "Overview: the vault and its code.")
	w.file(skillScope, "feed/SKILL.md", "How to feed a capybara: with hay.")
	res := w.recallAll("what is the code of the vault?")
	if got := fmt.Sprint(uris(res)); got != "[viking://resources/guide/vault.md]" {
		t.Errorf("%s: want the leaf alone, not the folder's overview", got)
	}
	if g := recall.Render(res.Items); len(g) != 1 || !strings.HasSuffix(g[0].From, " viking://resources/guide/vault.md") {
		t.Errorf("%+v: a file's group is its URI", g)
	}
	if got := fmt.Sprint(uris(w.recallAll("how do I feed a capybara?"))); got != "[viking://agent/skills/feed/SKILL.md]" {
		t.Errorf("skill: %s", got)
	}
}

// TestFilesDontDrownMemories: a thousand files that say every word of the question change neither what the words tell in conversations nor
// what is shown of these, and take no more than their share of the budget.
func TestFilesDontDrownMemories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 40 {
		w.say("s1", skald.RoleUser, fmt.Sprintf("On day %d the walrus ate %d herrings in the harbour of Lisbon.", i, i*3))
	}
	w.say("s1", skald.RoleUser, "The harbour master is called Teresa.")
	ask := func() recall.Result {
		return w.recallAll("who is the harbour master of Lisbon?", func(r *recall.Request) { r.Budget = 600 })
	}
	before := ask()
	for i := range 1000 {
		text := "Harbour master rules of Lisbon, part %d: the harbour master decides in Lisbon."
		w.file(sharedScope, fmt.Sprintf("port/%d.md", i), fmt.Sprintf(text, i))
	}
	after := ask()
	files, shown := 0, map[skald.URI]bool{}
	for _, it := range after.Items {
		shown[it.URI] = true
		if it.Doc.Kind == skald.DocResource {
			files += message.TextTokens(it.Text)
		}
	}
	if files == 0 || files > 600/4 {
		t.Errorf("files take %d tokens of 600", files)
	}
	for i, it := range before.Items {
		if i < len(before.Items)/2 && !shown[it.URI] {
			t.Errorf("%s was among the better half before, and is gone", it.URI)
		}
	}
	score := func(res recall.Result) string {
		for _, c := range append(res.Trace.Items, res.Trace.Dropped...) {
			if strings.HasSuffix(string(c.URI), "turns/41") {
				return fmt.Sprint(c.Score, c.Parts)
			}
		}
		return "not found"
	}
	if a, b := score(before), score(after); a != b {
		t.Errorf("the turn's score was %s and is %s", a, b)
	}
}

// TestFilesOfTheUserStayTheirs: a group session recalls what the account shares, not the user's own files (I9).
func TestFilesOfTheUserStayTheirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(userScope, "resources/private.md", "The vault code is 7731.")
	w.file(sharedScope, "public.md", "The vault stands in the cellar.")
	if got := len(w.recallAll("vault").Items); got != 2 {
		t.Errorf("the owner sees %d of both", got)
	}
	group := w.recallAll("vault", func(r *recall.Request) { r.Audience, r.Owner = "group:telegram:1", false })
	if got := fmt.Sprint(uris(group)); got != "[viking://resources/public.md]" {
		t.Errorf("a group sees %s", got)
	}
	for _, c := range group.Trace.Dropped {
		if strings.Contains(c.Text, "7731") {
			t.Error("the trace tells the group what it must not see")
		}
	}
}

// TestFindIsStable: the score of a hit depends on neither limit nor restriction.
func TestFindIsStable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 {
		w.say("s1", skald.RoleUser, fmt.Sprintf("walrus number %d eats fish %d", i, i%7))
		w.file(sharedScope, fmt.Sprintf("a/%d.md", i), strings.Repeat("walrus ", i+1)+"fish")
	}
	find := func(r recall.FindRequest) map[skald.URI]float64 {
		r.Query, r.Scopes, r.Audience, r.Owner, r.Now = "walrus fish 3", everyScope, skald.AudienceDirect, true, now
		out := map[skald.URI]float64{}
		err := w.store.View(context.Background(), func(tx skald.Tx) error {
			list, err := recall.Find(context.Background(), tx, r)
			for _, m := range list {
				out[m.URI] = m.Score
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := find(recall.FindRequest{Limit: 1000})
	if len(all) != 60 {
		t.Fatalf("%d found of 60", len(all))
	}
	for title, r := range map[string]recall.FindRequest{
		"few":            {Limit: 3},
		"files":          {Limit: 50, Kinds: []skald.DocKind{skald.DocResource}},
		"below":          {Limit: 50, Below: []skald.URI{"viking://resources/a"}},
		"in the session": {Limit: 50, Below: []skald.URI{sessionRef("s1").URI()}},
		"kept":           {Limit: 5, Keep: func(m recall.Match) bool { return strings.HasSuffix(string(m.URI), "7.md") }},
	} {
		some := find(r)
		if len(some) == 0 {
			t.Errorf("%s: nothing", title)
		}
		for uri, score := range some {
			if all[uri] != score {
				t.Errorf("%s: %s has %v, and %v among all", title, uri, score, all[uri])
			}
		}
	}
}

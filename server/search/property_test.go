package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/search"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/tree"
)

// clock is an engine that has nothing but a policy and the time.
type clock struct{}

func (clock) Policy() skald.Policy { return policy }
func (clock) Now() time.Time       { return now }

// vocabulary is small, so that a word finds much.
var vocabulary = []string{"walrus", "tokyo", "port", "fish", "db_main", "海象", "deploy", "Lisbon", "alpha-7", "the"}

// populate puts n memories, files and folders with random texts, tags and times into a store.
func populate(r *rapid.T, tx skald.Tx) error {
	words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 12)
	tags := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"lang=en", "lang=zh", "team=a", "k.1=v/2"}), 0, 3, rapid.ID)
	for i := range rapid.IntRange(1, 25).Draw(r, "things") {
		text, on := strings.Join(words.Draw(r, "words"), " "), rapid.IntRange(1, 20).Draw(r, "day")
		if rapid.Bool().Draw(r, "memory") {
			kind := rapid.SampledFrom([]string{"events", "entities", "cases"}).Draw(r, "kind")
			m := note(fmt.Sprintf("%s/%d.md", kind, i), text, on, tags.Draw(r, "tags")...)
			m.Updated, m.Uses = m.Updated.AddDate(0, 0, rapid.IntRange(0, 3).Draw(r, "later")), i%4
			if err := tx.PutMemory(m); err != nil {
				return err
			}
			if err := tx.PutDocs(index.DocsOfMemory(m)); err != nil {
				return err
			}
			continue
		}
		scope := rapid.SampledFrom([]skald.Scope{shared, annScope}).Draw(r, "scope")
		name := rapid.SampledFrom([]string{"guide/", "guide/sub/", "no te s/", "skills/x/"}).Draw(r, "folder") + fmt.Sprintf("%d.md", i)
		if scope == annScope && !strings.HasPrefix(name, "skills") {
			name = "resources/" + name
		}
		f := file(scope, name, text, on, tags.Draw(r, "tags")...)
		f.Created = f.Created.AddDate(0, 0, -rapid.IntRange(0, 3).Draw(r, "earlier"))
		if err := tree.Put(tx, f); err != nil {
			return err
		}
	}
	return nil
}

// drawFilter draws a filter as a caller would write it.
func drawFilter(r *rapid.T, depth int) map[string]any {
	op := rapid.SampledFrom([]string{
		"and", "or", "must", "must_not", "range", "range_out", "time_range", "prefix", "contains", "regex",
	}).Draw(r, "op")
	if (op == "and" || op == "or") && depth < 3 {
		conds := []any{}
		for range rapid.IntRange(1, 3).Draw(r, "conds") {
			conds = append(conds, drawFilter(r, depth+1))
		}
		return map[string]any{"op": op, "conds": conds}
	}
	date := func() any {
		return fmt.Sprintf("2026-03-%02dT%02d:00:00Z", rapid.IntRange(1, 22).Draw(r, "day"), rapid.SampledFrom([]int{0, 12}).Draw(r, "hour"))
	}
	switch op {
	case "range", "range_out":
		f := map[string]any{"op": op, "field": rapid.SampledFrom([]string{"level", "active_count"}).Draw(r, "field")}
		f[rapid.SampledFrom([]string{"gt", "gte", "lt", "lte"}).Draw(r, "end")] = float64(rapid.IntRange(0, 3).Draw(r, "n"))
		return f
	case "time_range":
		f := map[string]any{"op": op, "field": rapid.SampledFrom([]string{"created_at", "updated_at"}).Draw(r, "field")}
		f[rapid.SampledFrom([]string{"gt", "gte", "lt", "lte"}).Draw(r, "end")] = date()
		return f
	case "prefix":
		prefix := rapid.SampledFrom([]string{"viking://resources/gui", "viking://~/memories/e"}).Draw(r, "prefix")
		return map[string]any{"op": op, "field": "uri", "prefix": prefix}
	case "contains":
		return map[string]any{"op": op, "field": rapid.SampledFrom([]string{"uri", "abstract", "name", "tags"}).Draw(r, "field"),
			"substring": rapid.SampledFrom([]string{"1", "fish", "sub", "en"}).Draw(r, "part")}
	case "regex":
		return map[string]any{"op": op, "field": "name", "pattern": `^\d\.md$`}
	}
	if op != "must_not" {
		op = "must"
	}
	conds := map[string][]any{
		"uri":   {"viking://resources/guide", "/resources/guide/sub", "viking://~/memories/events", "viking://user/ann"},
		"level": {0.0, 1.0, 2.0}, "context_type": {"memory", "resource", "skill"}, "tags": {"lang=en", "team=a"}, "search_tags": {"K.1=V/2"},
		"name": {"3.md", "4.md"}, "owner_user_id": {"ann", ""},
	}
	field := rapid.SampledFrom([]string{"uri", "level", "context_type", "tags", "search_tags", "name", "owner_user_id"}).Draw(r, "field")
	values := rapid.SliceOfNDistinct(rapid.SampledFrom(conds[field]), 1, 2, rapid.ID).Draw(r, "values")
	return map[string]any{"op": op, "field": field, "conds": values}
}

// fields reads the fields of a hit for the naive filter: out of the store, not out of the index.
func fields(t *testing.T, store skald.Store, h api.SearchHit) api.Fields {
	t.Helper()
	all := map[string]any{
		"uri": h.URI, "context_type": h.Type, "level": h.Level, "tags": h.Tags, "name": index.FileURI(h.URI).Name(), "abstract": h.Abstract,
		"active_count": 0, "account_id": "acme", "owner_user_id": "",
	}
	if strings.HasPrefix(string(h.URI), "viking://user/ann/") {
		all["owner_user_id"] = "ann"
	}
	err := store.View(t.Context(), func(tx skald.Tx) error {
		for _, scope := range policy.Readable(ann) {
			if m, err := tx.Memory(scope, h.URI); err == nil {
				all["created_at"], all["updated_at"], all["active_count"] = m.Created, m.Updated, m.Uses
			} else if f, err := tx.File(scope, index.FileURI(h.URI)); err == nil {
				all["created_at"], all["updated_at"] = f.Created, f.Modified
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(field string) (any, bool) { return all[field], true }
}

func stores(t *testing.T) map[string]func() skald.Store {
	return map[string]func() skald.Store{
		"memory": func() skald.Store { return memory.New() },
		"sqlite": func() skald.Store {
			s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

// TestSearchIsANaiveFilter: for any filter, tags and place the result is that of filtering all hits, in their order; the limit holds and
// nothing comes twice.
func TestSearchIsANaiveFilter(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				store := open()
				defer store.Close()
				if err := store.Update(t.Context(), func(tx skald.Tx) error { return populate(r, tx) }); err != nil {
					r.Fatal(err)
				}
				s := search.New(clock{}, store)
				query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(vocabulary, "nowhere")), 0, 3).Draw(r, "query"), " ")
				all, err := s.Search(t.Context(), ann, api.SearchQuery{Query: query, Limit: 1000})
				if err != nil {
					r.Fatal(err)
				}
				q := api.SearchQuery{Query: query, Limit: rapid.IntRange(1, 12).Draw(r, "limit")}
				var filters []*api.Filter
				if rapid.Bool().Draw(r, "filtered") {
					f, err := api.ParseFilter(drawFilter(r, 0))
					if err != nil {
						r.Fatal(err)
					}
					q.Filter, filters = f, append(filters, f)
				}
				if rapid.Bool().Draw(r, "tagged") {
					q.Tags = []string{rapid.SampledFrom([]string{"lang=en", "k.1=v/2"}).Draw(r, "tag")}
					filters = append(filters, api.OneOf(api.FieldTags, q.Tags...))
				}
				if rapid.Bool().Draw(r, "placed") {
					q.Targets = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"viking://resources/guide", "viking://~/resources", "viking://user",
						"viking://user/memories/events", "viking://resources/guide/sub/3.md"}), 1, 2, rapid.ID).Draw(r, "targets")
				}
				got, err := s.Search(t.Context(), ann, q)
				if err != nil {
					r.Fatal(err)
				}
				var want []api.SearchHit
				for _, h := range all.Hits {
					of := fields(t, store, h)
					if !slices.ContainsFunc(filters, func(f *api.Filter) bool { return f.Judge(of) != api.Yes }) && below(r, h.URI, q.Targets) {
						want = append(want, h)
					}
				}
				want = want[:min(len(want), q.Limit)]
				if a, b := fmt.Sprintf("%+v", got.Hits), fmt.Sprintf("%+v", slices.Clip(append([]api.SearchHit{}, want...))); a != b {
					r.Fatalf("%q with %+v:\ngot  %s\nwant %s", query, q, a, b)
				}
				seen := map[skald.URI]bool{}
				for _, h := range got.Hits {
					if seen[h.URI] || h.Score < 0 || h.Score > 1 {
						r.Fatalf("twice, or no score: %+v", h)
					}
					seen[h.URI] = true
				}
			})
		})
	}
}

func below(r *rapid.T, uri skald.URI, targets []string) bool {
	for _, raw := range targets {
		folder, err := skald.ParseURI(raw, ann, policy)
		if err != nil {
			r.Fatal(err)
		}
		if index.Below(uri, folder) {
			return true
		}
	}
	return len(targets) == 0
}

// TestBriefKeepsItsBudget: whatever is asked, what is rendered costs no more than max_tokens, counted over the whole, and quotas and
// exclusions hold.
func TestBriefKeepsItsBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		store := memory.New()
		defer store.Close()
		if err := store.Update(t.Context(), func(tx skald.Tx) error { return populate(r, tx) }); err != nil {
			r.Fatal(err)
		}
		words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 3).Draw(r, "query")
		q := api.BriefQuery{
			SearchQuery: api.SearchQuery{Query: strings.Join(words, " "), Session: "s9", Limit: rapid.IntRange(1, 20).Draw(r, "limit")},
			MaxTokens:   rapid.IntRange(64, 600).Draw(r, "tokens"),
			Detail:      rapid.SampledFrom([]string{"", api.TierAbstract, api.TierOverview, api.TierFull}).Draw(r, "detail"),
			DedupTurns:  rapid.IntRange(0, 3).Draw(r, "dedup"), Exclude: []string{"viking://resources/guide/sub"},
		}
		if rapid.Bool().Draw(r, "with quotas") {
			q.Quotas = map[string]int{api.CategoryEvents: rapid.IntRange(0, 3).Draw(r, "events"), api.CategoryResources: 2}
		}
		s := search.New(clock{}, store)
		before := map[skald.URI]bool{}
		for range 2 {
			b, err := s.Brief(t.Context(), ann, q)
			if err != nil {
				r.Fatal(err)
			}
			if n := message.TextTokens(b.Rendered); n > q.MaxTokens || n != b.Stats.UsedTokens {
				r.Fatalf("%d tokens of %d, %d said: %s", n, q.MaxTokens, b.Stats.UsedTokens, b.Rendered)
			}
			count := map[string]int{}
			for _, e := range b.Entries {
				count[e.Category]++
				if strings.HasPrefix(string(e.URI), "viking://resources/guide/sub") || before[e.URI] && q.DedupTurns > 0 {
					r.Fatalf("%s is to be left out", e.URI)
				}
				before[e.URI] = true
			}
			for category, n := range count {
				quota, ok := q.Quotas[category]
				if q.Quotas != nil && (!ok || n > quota) || q.Quotas == nil && len(b.Entries) > q.Limit {
					r.Fatalf("%d entries of %s", n, category)
				}
			}
			if got := b.Stats; got.Returned+got.Dropped+got.Deduped != got.Candidates || got.Returned != len(b.Entries) {
				r.Fatalf("the counts do not add up: %+v", got)
			}
		}
	})
}

package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skald-engine/skald"
)

func turnDoc(ref skald.SessionRef, seq int64, terms ...string) skald.Doc {
	return skald.Doc{Scope: ref.Scope, Kind: skald.DocTurn, Session: ref.ID, Seq: seq, Start: 3, End: 99, Time: at(int(seq)), Role: skald.RoleUser,
		Origin: skald.OriginOwner, Audience: skald.AudienceDirect, Terms: terms, Length: len(terms)}
}

func archiveDoc(ref skald.SessionRef, index int, terms ...string) skald.Doc {
	d := turnDoc(ref, int64(index), terms...)
	d.Kind, d.Role = skald.DocArchive, ""
	return d
}

func memoryDoc(scope skald.Scope, uri skald.URI, terms ...string) skald.Doc {
	return skald.Doc{Scope: scope, Kind: skald.DocMemory, Session: chat.ID, Seq: 2, URI: uri, Time: at(1), Type: skald.MemoryEvent,
		Origin: skald.OriginAgent, Audience: "group:x", Terms: terms, Length: len(terms)}
}

// early admits what belongs to the first turns.
func early(d skald.Doc) bool { return d.Seq < 3 }

func search(t *testing.T, s skald.Store, q skald.SearchQuery) skald.SearchResult {
	t.Helper()
	if q.Scopes == nil {
		q.Scopes = []skald.Scope{alice}
	}
	return read(t, s, func(tx skald.Tx) (skald.SearchResult, error) { return tx.Search(q) })
}

// found names the hits: kind and sequence, or the URI; sorted.
func found(res skald.SearchResult) []string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, name(h.Doc))
	}
	slices.Sort(out)
	return out
}

func name(d skald.Doc) string {
	if d.URI != "" {
		return string(d.URI)
	}
	return fmt.Sprintf("%s %d", d.Kind, d.Seq)
}

var indexTests = map[string]func(*testing.T, skald.Store){
	"DocsComeBackWhole": func(t *testing.T, s skald.Store) {
		want := []skald.Doc{turnDoc(chat, 1, "x", "y"), archiveDoc(chat, 1, "x"), memoryDoc(alice, "viking://m", "x")}
		want[0].Role, want[0].Origin, want[0].Audience = "odd", "odder", "group:telegram:42"
		update(t, s, func(tx skald.Tx) error { return tx.PutDocs(want) })
		res := search(t, s, skald.SearchQuery{Terms: []string{"x"}})
		ids := map[int64]bool{}
		for _, h := range res.Hits {
			i := slices.IndexFunc(want, func(d skald.Doc) bool { return name(d) == name(h.Doc) })
			if ids[h.Doc.ID] || h.Doc.ID == 0 || i < 0 {
				t.Fatalf("unexpected or repeated hit %+v", h.Doc)
			}
			ids[h.Doc.ID] = true
			want[i].ID, want[i].Terms = h.Doc.ID, nil
			same(t, "doc", h.Doc, want[i])
		}
		same(t, "docs", len(ids), 3)
	},
	"Search": func(t *testing.T, s skald.Store) {
		other := skald.SessionRef{Scope: alice, ID: "other"}
		update(t, s, func(tx skald.Tx) error {
			var docs []skald.Doc
			for seq := range int64(50) {
				docs = append(docs, turnDoc(chat, seq+1, "frequent", fmt.Sprintf("word%d", seq+1)))
			}
			return tx.PutDocs(append(docs, turnDoc(other, 60, "frequent", "rare"), archiveDoc(chat, 3, "rare", "archived"),
				memoryDoc(alice, "viking://m/1", "rare", "frequent")))
		})
		for title, c := range map[string]struct {
			q    skald.SearchQuery
			want []string
		}{
			"rare":             {skald.SearchQuery{Terms: []string{"rare"}}, []string{"archive 3", "turn 60", "viking://m/1"}},
			"one":              {skald.SearchQuery{Terms: []string{"word7"}}, []string{"turn 7"}},
			"or":               {skald.SearchQuery{Terms: []string{"word7", "word9", "none"}}, []string{"turn 7", "turn 9"}},
			"nothing":          {skald.SearchQuery{Terms: []string{"none"}}, nil},
			"no terms":         {skald.SearchQuery{}, nil},
			"no terms, all":    {skald.SearchQuery{All: true}, nil},
			"all":              {skald.SearchQuery{Terms: []string{"frequent", "rare", "rare"}, All: true}, []string{"turn 60", "viking://m/1"}},
			"all, one missing": {skald.SearchQuery{Terms: []string{"frequent", "none"}, All: true}, nil},
			"kind":             {skald.SearchQuery{Terms: []string{"rare"}, Kinds: []skald.DocKind{skald.DocArchive}}, []string{"archive 3"}},
			"kinds":            {skald.SearchQuery{Terms: []string{"rare"}, Kinds: []skald.DocKind{skald.DocMemory, skald.DocArchive}}, []string{"archive 3", "viking://m/1"}},
			"session":          {skald.SearchQuery{Terms: []string{"frequent"}, Session: "other"}, []string{"turn 60"}},
			"session and kind": {skald.SearchQuery{Terms: []string{"frequent"}, Session: chat.ID, Kinds: []skald.DocKind{skald.DocMemory}}, []string{"viking://m/1"}},
			"session, all":     {skald.SearchQuery{Terms: []string{"frequent", "word5"}, Session: chat.ID, All: true}, []string{"turn 5"}},
			"must":             {skald.SearchQuery{Terms: []string{"frequent"}, Must: []string{"rare"}}, []string{"turn 60", "viking://m/1"}},
			"must, two":        {skald.SearchQuery{Terms: []string{"frequent"}, Must: []string{"rare", "word9"}}, nil},
			"must, none":       {skald.SearchQuery{Terms: []string{"frequent"}, Must: []string{"none"}}, nil},
			"must and kind":    {skald.SearchQuery{Terms: []string{"rare"}, Must: []string{"archived"}, Kinds: []skald.DocKind{skald.DocArchive}}, []string{"archive 3"}},
			"must, all":        {skald.SearchQuery{Terms: []string{"frequent", "rare"}, Must: []string{"rare"}, All: true}, []string{"turn 60", "viking://m/1"}},
			"admitted":         {skald.SearchQuery{Terms: []string{"frequent"}, Admit: early, Limit: 3}, []string{"turn 1", "turn 2", "viking://m/1"}},
			"unknown session":  {skald.SearchQuery{Terms: []string{"frequent"}, Session: "none"}, nil},
			"unknown scope":    {skald.SearchQuery{Terms: []string{"frequent"}, Scopes: []skald.Scope{bob}}, nil},
		} {
			same(t, title, found(search(t, s, c.q)), c.want)
		}
		res := search(t, s, skald.SearchQuery{Terms: []string{"frequent", "rare", "none"}, Limit: 2})
		same(t, "df", res.DF, map[string]int64{"frequent": 52, "rare": 3, "none": 0})
		same(t, "docs", res.Docs, int64(53))
		same(t, "limit keeps those that hold both", found(res), []string{"turn 60", "viking://m/1"})
		narrow := search(t, s, skald.SearchQuery{Terms: []string{"frequent", "rare"}, MaxPostings: 5})
		for _, want := range []string{"archive 3", "turn 60", "viking://m/1"} {
			if !slices.Contains(found(narrow), want) {
				t.Errorf("few postings: the rare term's %s is missing in %v", want, found(narrow))
			}
		}
		if n := len(search(t, s, skald.SearchQuery{Terms: []string{"frequent"}, MaxPostings: 5}).Hits); n == 0 {
			t.Error("few postings: a frequent term alone must find something")
		}
	},
	"OrderIsStable": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error {
			return tx.PutDocs([]skald.Doc{turnDoc(chat, 1, "x"), turnDoc(chat, 2, "x"), turnDoc(chat, 3, "x", "y"), turnDoc(chat, 4, "x")})
		})
		res := search(t, s, skald.SearchQuery{Terms: []string{"x", "y"}})
		if len(res.Hits) != 4 || res.Hits[0].Doc.Seq != 3 {
			t.Fatalf("the doc with both terms must lead: %v", found(res))
		}
		for i := 1; i < len(res.Hits); i++ {
			a, b := res.Hits[i-1], res.Hits[i]
			if a.Score < b.Score || a.Score == b.Score && a.Doc.ID >= b.Doc.ID {
				t.Errorf("hits %d and %d are out of order: %v, %v", i-1, i, a, b)
			}
		}
		same(t, "again", search(t, s, skald.SearchQuery{Terms: []string{"y", "x"}}), res)
	},
	"TermsAreOpaque": func(t *testing.T, s skald.Store) {
		terms := []string{"Word", "word", "WORD", "wörd", "WÖRD", "東京", "東", "a b", "a", "a.b", "a_b", "a_", "_", "a-b", "a*", `"`, `a"b`, "'", "AND", "OR",
			"NOT", "NEAR", "(", ")", "^a", "a:b", "+", "{", "", " ", "\x00", "a\x00b", "\xff", "\xff\xfe", "🙂", "é", "e\u0301", "_61", "_h61",
			string(make([]byte, 300)), string(make([]byte, 301)), fmt.Sprintf("%0500d", 1), fmt.Sprintf("%0500d", 2)}
		update(t, s, func(tx skald.Tx) error {
			for i, term := range terms {
				if err := tx.PutDocs([]skald.Doc{turnDoc(chat, int64(i+1), term)}); err != nil {
					return err
				}
			}
			return nil
		})
		for i, term := range terms {
			res := search(t, s, skald.SearchQuery{Terms: []string{term}})
			same(t, fmt.Sprintf("term %.20q", term), found(res), []string{fmt.Sprintf("turn %d", i+1)})
			same(t, fmt.Sprintf("df of %.20q", term), res.DF, map[string]int64{term: 1})
			all := search(t, s, skald.SearchQuery{Terms: []string{term}, All: true, Session: chat.ID})
			same(t, fmt.Sprintf("all with %.20q", term), len(all.Hits), 1)
		}
	},
	"Deletes": func(t *testing.T, s skald.Store) {
		other := skald.SessionRef{Scope: alice, ID: "other"}
		update(t, s, func(tx skald.Tx) error {
			return tx.PutDocs([]skald.Doc{
				turnDoc(chat, 1, "x"), turnDoc(chat, 2, "x"), turnDoc(chat, 2, "x"), turnDoc(chat, 3, "x"), turnDoc(other, 2, "x"),
				archiveDoc(chat, 2, "x"), archiveDoc(chat, 3, "x"), memoryDoc(alice, "viking://m/1", "x"), memoryDoc(alice, "viking://m/2", "x"),
				memoryDoc(bob, "viking://m/1", "x"),
			})
		})
		check := func(title string, want ...string) {
			t.Helper()
			res := search(t, s, skald.SearchQuery{Terms: []string{"x"}})
			same(t, title, found(res), want)
			same(t, title+": docs", res.Docs, int64(len(want)))
			same(t, title+": df", res.DF["x"], int64(len(want)))
		}
		check("before", "archive 2", "archive 3", "turn 1", "turn 2", "turn 2", "turn 2", "turn 3", "viking://m/1", "viking://m/2")
		update(t, s, func(tx skald.Tx) error { return tx.DeleteTurnDocs(chat, 2, 3) })
		check("turns", "archive 2", "archive 3", "turn 1", "turn 2", "viking://m/1", "viking://m/2")
		update(t, s, func(tx skald.Tx) error { return tx.DeleteArchiveDocs(chat, 3) })
		check("archive", "archive 2", "turn 1", "turn 2", "viking://m/1", "viking://m/2")
		update(t, s, func(tx skald.Tx) error {
			return firstError(func() error { return tx.DeleteURIDocs(alice, "viking://m/1") }, func() error { return tx.DeleteURIDocs(alice, "") })
		})
		check("uri", "archive 2", "turn 1", "turn 2", "viking://m/2")
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.PutDocs([]skald.Doc{turnDoc(chat, 9, "x")}) },
				func() error { return tx.DeleteTurnDocs(chat, 9, 9) },
				func() error { return tx.DeleteTurnDocs(skald.SessionRef{Scope: alice, ID: "none"}, 1, 9) },
			)
		})
		check("put and deleted in one transaction", "archive 2", "turn 1", "turn 2", "viking://m/2")
		same(t, "the other scope", found(search(t, s, skald.SearchQuery{Scopes: []skald.Scope{bob}, Terms: []string{"x"}})), []string{"viking://m/1"})
	},
	"SearchSeesOwnWrites": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error { return tx.PutDocs([]skald.Doc{turnDoc(chat, 1, "x")}) })
		search(t, s, skald.SearchQuery{Terms: []string{"x"}})
		q := skald.SearchQuery{Scopes: []skald.Scope{alice}, Terms: []string{"x"}}
		err := s.Update(t.Context(), func(tx skald.Tx) error {
			if err := tx.PutDocs([]skald.Doc{turnDoc(chat, 2, "x"), turnDoc(chat, 3, "x")}); err != nil {
				return err
			}
			if err := tx.DeleteTurnDocs(chat, 3, 3); err != nil {
				return err
			}
			res, err := tx.Search(q)
			if err != nil {
				return err
			}
			same(t, "inside", found(res), []string{"turn 1", "turn 2"})
			same(t, "df inside", res.DF["x"], int64(2))
			return errUndo
		})
		if err == nil {
			t.Error("the update should have failed")
		}
		res := search(t, s, q)
		same(t, "after the rollback", found(res), []string{"turn 1"})
		same(t, "df after the rollback", res.DF["x"], int64(1))
	},
	"FrequenciesFollowWrites": func(t *testing.T, s skald.Store) {
		for n := range int64(5) {
			update(t, s, func(tx skald.Tx) error { return tx.PutDocs([]skald.Doc{turnDoc(chat, n+1, "x", "x", "y")}) })
			res := search(t, s, skald.SearchQuery{Terms: []string{"x"}})
			same(t, "df", res.DF["x"], n+1)
			same(t, "docs", res.Docs, n+1)
		}
	},
}

package skill

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/index/analyze"
)

// Query says which skills are looked for.
type Query struct {
	Text      string
	Target    string  // a root; "": all
	Limit     int     // skills
	Threshold float64 // least score; 0: leastScore
	Levels    []int   // 0 abstract, 1 overview, 2 files; none: all
}

const (
	passages   = 12   // looked at for each skill that is wanted: a skill with many files brings many
	leastScore = 0.15 // below, a passage has hardly more than a common word of the query
	bend       = 0.55 // makes a score of the share of the query that is covered, as recall does
)

// Found is a skill that a search found, by its best passage.
type Found struct {
	Info
	Hit   skald.URI // what was found: SKILL.md, another file, or the folder's abstract or overview
	Level int       // 0 abstract, 1 overview, 2 a file
	Score float64   // 0 to 1
	Text  string    // the passage
}

// Find searches the skills of an identity by their words, best first, each once.
func (l *Library) Find(ctx context.Context, id skald.Identity, q Query) (out []Found, err error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, skald.Invalid("skill.find", "query", "say what the skill is for")
	}
	roots, err := l.chosen(id, q.Target)
	if err != nil || q.Limit <= 0 {
		return []Found{}, err
	}
	err = l.Store.View(ctx, func(tx skald.Tx) error {
		out, err = search(tx, roots, q)
		return err
	})
	return out, err
}

func search(tx skald.Tx, roots []root, q Query) ([]Found, error) {
	var scopes []skald.Scope
	for _, r := range roots {
		scopes = append(scopes, r.scope)
	}
	terms := analyze.Query(q.Text)
	result, err := tx.Search(skald.SearchQuery{Scopes: scopes, Kinds: []skald.DocKind{skald.DocSkill}, Terms: terms, Limit: q.Limit * passages,
		Admit: func(d skald.Doc) bool { return len(q.Levels) == 0 || slices.Contains(q.Levels, index.Level(d.URI)) }})
	if err != nil {
		return nil, err
	}
	best := map[skald.URI]Found{}
	for _, hit := range result.Hits {
		r, folder, ok := skillOf(roots, hit.Doc.URI)
		if !ok {
			continue
		}
		f, err := passage(tx, r.scope, hit.Doc)
		if err != nil {
			return nil, err
		}
		f.Score = covered(terms, f.Text, result)
		if f.Score >= cmp.Or(q.Threshold, leastScore) && f.Score > best[folder].Score {
			best[folder] = f
		}
	}
	return describe(tx, roots, best, q.Limit)
}

// passage reads the text that was found.
func passage(tx skald.Tx, scope skald.Scope, d skald.Doc) (Found, error) {
	f, err := tx.File(scope, index.FileURI(d.URI))
	if err != nil {
		return Found{}, err
	}
	text := index.FileText(f, d.URI)
	end := min(d.End, len(text))
	return Found{Hit: d.URI, Level: index.Level(d.URI), Text: text[min(d.Start, end):end]}, nil
}

// covered scores a text by the share of the query that it covers; a rare word weighs more than a common one.
func covered(terms []string, text string, result skald.SearchResult) float64 {
	has := map[string]bool{}
	for _, t := range analyze.Terms(text) {
		has[t] = true
	}
	found, all := 0.0, 0.0
	for _, t := range terms {
		df := float64(result.DF[t])
		weight := math.Log(1 + (float64(result.Docs)+1)/(df+0.5))
		if all += weight; has[t] {
			found += weight
		}
	}
	if all == 0 {
		return 0
	}
	return math.Pow(found/all, bend)
}

// describe lists the best of what was found with its skills.
func describe(tx skald.Tx, roots []root, best map[skald.URI]Found, limit int) ([]Found, error) {
	out := []Found{}
	for folder, found := range best {
		r, _, _ := skillOf(roots, found.Hit)
		f, err := tx.File(r.scope, folder)
		if err != nil {
			return nil, err
		}
		if found.Info, err = stored(tx, f); err != nil {
			return nil, err
		}
		out = append(out, found)
	}
	slices.SortFunc(out, func(a, b Found) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URI, b.URI)) })
	return out[:min(len(out), limit)], nil
}

// skillOf is the skill that a URI lies in.
func skillOf(roots []root, uri skald.URI) (root, skald.URI, bool) {
	for _, r := range roots {
		if rest, ok := strings.CutPrefix(string(uri), string(r.uri)+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			return r, r.uri.Join(name), true
		}
	}
	return root{}, "", false
}

package recall

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
)

// FindRequest asks for all that matches a query, best first, with no regard to what fits a prompt: nothing is added that no word found,
// and no hit stands back for another one that says the same.
//
// A score is the share of the query's information that the passage's own words tell, bent as in Recall (calibrated), 0 to 1. It depends on
// the passage, the query and how often the query's words occur in the scopes, not on the other hits or on what restricts the search: a
// threshold means the same everywhere. 0.1 asks for 1.5 % of what the query tells, 0.35 for 15 %, 0.5 for 28 %.
type FindRequest struct {
	Query    string
	Window   []string // earlier user turns, oldest first: their words help a query that says little
	Scopes   []skald.Scope
	Session  skald.SessionRef
	Audience skald.Audience
	Owner    bool

	Keywords  bool                 // by words alone, not by meaning
	Kinds     []skald.DocKind      // empty: all
	Below     []skald.URI          // folders or files, any of; empty: everywhere
	Tags      []string             // of the file or memory, every one
	Admit     func(skald.Doc) bool // looks at the document alone; nil: all
	Keep      func(Match) bool     // looks at what was found, which has no score yet; nil: all
	Threshold float64              // least score
	Limit     int
	Now       time.Time
}

// Match is one hit: the best passage of a turn, an archive, a memory, a file or a folder's own text.
type Match struct {
	URI        skald.URI // of an archive that of its overview; of a folder's text ends with its reserved name
	Place      skald.URI // what to expand: for a line of an overview the turns it was made of, else URI
	Kind       skald.DocKind
	Level      int // 0 abstract, 1 overview, 2 everything else
	Score      float64
	Text       string // the passage
	Time       time.Time
	Sources    []skald.MemorySource
	Superseded bool
	Label      string // "tool", "other person", or ""
	Parts      map[string]float64
	Doc        skald.Doc     // the passage's
	Memory     *skald.Memory // of a memory
	File       *skald.File   // of a resource, a skill, or the folder of a text

	raw float64 // the score before it is bent and cut at 1
}

// Tags are those of the memory or file.
func (m Match) Tags() []string {
	switch {
	case m.Memory != nil:
		return m.Memory.Tags
	case m.File != nil:
		return m.File.Tags
	}
	return nil
}

// firstCandidates is how many candidates a share brings at first; where Keep leaves too few, sixteen times as many are looked at, and so on.
const firstCandidates = 40

// The form of texts that all finds are measured by, so that scores don't depend on what else was found.
const (
	usualLength = 60  // terms
	usualAgent  = 0.7 // weight of what the agent wrote
)

// Find searches in tx. The same data and request give the same result, always. A query without a word finds nothing.
func Find(ctx context.Context, tx skald.Tx, r FindRequest) ([]Match, error) {
	for n := max(firstCandidates, 3*r.Limit); ; n *= 16 {
		list, more, err := find(ctx, tx, r, n)
		if err != nil || !more || len(list) >= r.Limit {
			return list[:min(len(list), r.Limit)], err
		}
	}
}

// find looks at up to n candidates of each share; more reports that there are others.
func find(ctx context.Context, tx skald.Tx, r FindRequest, n int) (list []Match, more bool, err error) {
	c := &course{ctx: ctx, tx: tx, r: Request{Query: r.Query, Window: r.Window, Scopes: r.Scopes, Session: r.Session, Audience: r.Audience,
		Owner: r.Owner, Kinds: r.Kinds, Now: r.Now}.withDefaults()}
	c.plan()
	if !r.Keywords {
		c.mean()
	}
	if len(c.words) == 0 {
		return nil, false, nil
	}
	for _, s := range shares {
		if s.conversation() && len(r.Tags) > 0 || !r.reaches(s) {
			continue // turns and archives have no tags
		}
		cut, err := c.searchShare(s, r.search(s, n))
		if err != nil {
			return nil, false, err
		}
		more = more || cut
	}
	c.load()
	if c.inTimeOver {
		return nil, false, skald.E("recall.find", skald.KindDeadline, "the search took too long")
	}
	for _, k := range c.kept() {
		if m := k.match(); !Tagged(m, r.Tags) || r.Keep != nil && !r.Keep(m) {
			k.drop("not asked for")
		}
	}
	c.spoken.usual, c.library.usual, c.library.weight = usualLength, usualLength, 1
	c.score(c.kept(), usualAgent)
	c.demote()
	return r.matches(c.kept()), more, nil
}

// search is what the request asks of the index in a share.
func (r FindRequest) search(s share, n int) skald.SearchQuery {
	q := skald.SearchQuery{Limit: n, Admit: r.admit}
	if s.conversation() {
		q.Session = r.session()
		return q
	}
	for _, t := range r.Tags {
		q.Must = append(q.Must, index.TagMark(t))
	}
	if s.library() && len(r.Below) == 1 && r.Below[0] != skald.Root {
		q.Must = append(q.Must, index.FolderMark(r.Below[0]))
	}
	return q
}

// reaches reports whether what a share holds can lie below a folder that was asked for.
func (r FindRequest) reaches(s share) bool {
	return len(r.Below) == 0 || slices.ContainsFunc(r.Below, func(folder skald.URI) bool {
		switch part(folder) {
		case "":
			return true
		case "sessions":
			return s.conversation()
		case "memories":
			return s.kinds[0] == skald.DocMemory
		case "resources", "skills":
			return s.library()
		}
		return !s.conversation() // a peer's folder, or one that the user made
	})
}

// part is the folder of its scope that a URI lies in, or "" for one that holds whole scopes.
func part(uri skald.URI) string {
	path := strings.Split(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
	switch {
	case path[0] == "resources":
		return "resources"
	case len(path) < 3 && !strings.HasPrefix(string(uri), "viking://agent/skills"):
		return ""
	case path[0] == "agent" && path[1] == "skills":
		return "skills"
	}
	rest := path[2:]
	if len(rest) > 1 && (rest[0] == "agent" || rest[0] == "user") { // scopes that are kept apart by both
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return ""
	}
	return rest[0]
}

// conversation reports a share of sessions, not of what has a URI of its own.
func (s share) conversation() bool {
	return s.kinds[0] == skald.DocTurn || s.kinds[0] == skald.DocArchive
}

// session is the session that all is asked of, or "".
func (r FindRequest) session() string {
	if len(r.Below) != 1 {
		return ""
	}
	t, _ := r.Below[0].Resolve("") // the error says that it lies in no session
	return t.Session
}

// admit is what can be told of a document alone.
func (r FindRequest) admit(d skald.Doc) bool {
	in := len(r.Below) == 0
	for _, folder := range r.Below {
		in = in || index.Below(Place(d), folder)
	}
	return in && (r.Admit == nil || r.Admit(d))
}

// Place is the URI of what a document belongs to.
func Place(d skald.Doc) skald.URI {
	if d.Kind == skald.DocArchive {
		return docURI(d).Join(index.OverviewName)
	}
	return docURI(d)
}

// matches keeps the best passage of each thing, best first; of equals the newer, then the lesser URI.
func (r FindRequest) matches(kept []*candidate) []Match {
	best := map[skald.URI]Match{}
	for _, k := range kept {
		m := k.match()
		if m.Score < r.Threshold {
			continue
		}
		if old, ok := best[m.URI]; !ok || before(m, old) < 0 {
			best[m.URI] = m
		}
	}
	list := make([]Match, 0, len(best))
	for _, m := range best {
		list = append(list, m)
	}
	slices.SortFunc(list, before)
	return list
}

func before(a, b Match) int {
	return cmp.Or(cmp.Compare(b.raw, a.raw), b.Time.Compare(a.Time), cmp.Compare(a.URI, b.URI), cmp.Compare(a.Doc.Start, b.Doc.Start))
}

// Tagged reports that a match has every tag: a mark in the index only promises it.
func Tagged(m Match, tags []string) bool {
	return !slices.ContainsFunc(tags, func(want string) bool {
		return !slices.ContainsFunc(m.Tags(), func(has string) bool { return strings.EqualFold(has, want) })
	})
}

func (k *candidate) match() Match {
	m := Match{
		URI: Place(k.doc), Place: k.uri, Kind: k.doc.Kind, Level: 2, Score: math.Round(calibrated(k.score)*1e4) / 1e4, Text: k.text, Time: k.time,
		Sources: k.sources, Superseded: k.superseded, Label: k.label, Parts: k.parts, Doc: k.doc, Memory: k.memory, File: k.file, raw: k.score,
	}
	switch {
	case k.doc.Kind == skald.DocArchive:
		m.Level = 1
	case k.library():
		m.Level = index.Level(k.doc.URI)
	}
	return m
}

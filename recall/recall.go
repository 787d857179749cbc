package recall

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/when"
)

// Request says what is asked, by whom, and how much may be shown.
type Request struct {
	Query    string
	Window   []string // earlier user turns, oldest first
	Scopes   []skald.Scope
	Agent    string
	Session  skald.SessionRef       // the asking session
	Audience skald.Audience         // of the asking session (I9)
	Owner    bool                   // the owner asks
	Visible  func(d skald.Doc) bool // already in the context: skip; nil: nothing is
	Kinds    []skald.DocKind        // empty: all
	Admit    func(d skald.Doc) bool // what may be a candidate; nil: everything

	Budget         int     // tokens, groups and items as they stand in the serialised message; 0: DefaultBudget
	Limit          int     // items; 0: the budget decides, and how sure the hits are (C-10)
	Threshold      float64 // 0..1, the share of the query's information an item has to cover; 0: DefaultThreshold, below 0: none
	Cover          float64 // 0..1: nothing is shown unless a hit's own words cover this share of what the prompt tells; 0: no such demand
	MaxChars       int     // characters of one item; 0: DefaultMaxChars
	PreferAbstract bool    // of a memory its first sentence

	Now      time.Time
	Deadline time.Time // zero: none
}

// The defaults of recallTokenBudget, recallScoreThreshold and recallMaxContentChars.
const (
	DefaultBudget    = 2000
	DefaultThreshold = 0.15
	DefaultMaxChars  = 1000
)

// Result is what to show, best first, and how it was found.
type Result struct {
	Items  []Item
	Trace  skald.RecallTrace
	Tokens int // of the rendered groups
}

// Item is one thing to show: the passage of a turn, a memory, a line of an overview.
type Item struct {
	Doc        skald.Doc
	URI        skald.URI
	Group      string // URI of the session, or "memory"
	Speaker    string
	Text       string // escaped (SEC-05), at most MaxChars
	Time       time.Time
	Score      float64
	Superseded bool   // something newer replaces it
	Label      string // "tool", "other person", "superseded", or ""

	tokens int
}

// Recall searches in tx. Only when no search could be made in time it fails, with KindDeadline; when the time runs out later, what is ready
// is returned (REC-01). The same data and request give the same result, always (SRC-03).
func Recall(ctx context.Context, tx skald.Tx, r Request) (Result, error) {
	began := time.Now()
	r = r.withDefaults()
	c := &course{ctx: ctx, tx: tx, r: r}
	c.without, _ = ctx.Value(withoutKey{}).([]Stage)
	if !c.has(StageWindow) {
		c.r.Window = nil
	}
	c.run(StageTime, c.times)
	c.plan()
	c.run(StageMeaning, c.mean)
	if len(c.words) == 0 {
		return c.nothing("nothing to search for", began), nil
	}
	if err := c.search(); err != nil {
		return Result{}, err
	}
	c.load()
	c.rank()
	c.run(StageTime, c.weighTime)
	c.run(StageNear, c.smooth)
	c.run(StageThreshold, c.threshold)
	c.demandCover()
	c.prune()
	c.run(StageDedupe, c.dedupe)
	c.run(StageSuperseded, c.supersede)
	c.run(StageSilence, c.spend)
	c.fit()
	return c.result(began), nil
}

// course is one recall on its way through the stages.
type course struct {
	ctx context.Context
	tx  skald.Tx
	r   Request

	without    []Stage     // left out
	asked      []when.Span // the times that the question names
	asksWhen   bool        // it asks for one
	words      []word      // as planned
	spoken     lexicon     // what they tell in conversations
	library    lexicon     // and in files
	looksBack  bool        // the window helps
	meaning    string      // what is searched for by meaning; "": nothing
	found      []*candidate
	turns      map[turnKey]*turnText
	files      map[skald.URI]*skald.File
	fileTexts  map[skald.URI]string // by the URI of the documents
	items      []Item
	tokens     int
	shelved    int // of tokens: those of files
	inTimeOver bool
}

func (r Request) withDefaults() Request {
	if r.Budget <= 0 {
		r.Budget = DefaultBudget
	}
	if r.Threshold == 0 {
		r.Threshold = DefaultThreshold
	}
	if r.MaxChars <= 0 {
		r.MaxChars = DefaultMaxChars
	}
	if r.Now.IsZero() {
		r.Now = time.Now()
	}
	return r
}

// late reports whether the time is over.
func (c *course) late() bool {
	return c.ctx.Err() != nil || !c.r.Deadline.IsZero() && time.Now().After(c.r.Deadline)
}

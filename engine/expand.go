package engine

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/tree/view"
)

// Expansion limits, in characters of one digest.
const (
	expandChars     = 1_500
	expandCharsOne  = 24_000 // of the only turn asked for: verbatim
	expandScanTurns = 5_000  // turns looked at for a query
)

// Expand implements skald.Inspector: from a summary, archive, turn or memory URI to the turns behind it (000-121 to 000-123).
func (e *Engine) Expand(ctx context.Context, id skald.Identity, uri, query string, limit int) (skald.Expansion, error) {
	return e.expand(ctx, id, nil, e.opts.Policy, uri, query, limit)
}

// expand checks, when a session asks, that what was said elsewhere may be read there (I9).
func (e *Engine) expand(ctx context.Context, id skald.Identity, asking *skald.Session, policy skald.Policy, uri, query string, limit int) (x skald.Expansion, err error) {
	canonical, err := skald.ParseURI(uri, id, policy)
	if err != nil {
		return x, err
	}
	if isFile(canonical, id.Account) {
		err = e.store.View(ctx, func(tx skald.Tx) error {
			x, err = fileExpansion(view.View{Tx: tx, Policy: policy, ID: id}, canonical, query, 0)
			return err
		})
		return x, err
	}
	target, err := canonical.Resolve(id.Account)
	if err != nil {
		return x, err
	}
	if limit <= 0 {
		limit = e.settings(skald.Settings{}).expandResults
	}
	x = skald.Expansion{URI: canonical, Turns: []skald.ExpandedTurn{}, More: []skald.URI{}}
	err = e.store.View(ctx, func(tx skald.Tx) error {
		if target, err = whole(tx, target); err != nil {
			return err
		}
		sources, err := e.sources(tx, canonical, target, &x)
		if err != nil {
			return err
		}
		var found []sourced
		for _, src := range sources {
			if !src.Deleted.IsZero() {
				found = append(found, lost(src))
				continue
			}
			if err := mayRead(tx, asking, src.Session); err != nil {
				return err
			}
			turns, err := tx.Turns(src.Session, skald.TurnQuery{From: src.From, To: src.To, Limit: expandScanTurns})
			if err != nil {
				return err
			}
			for _, t := range turns {
				if t.Forgotten && target.From == 0 {
					continue // a forgotten turn is read by its own uri only
				}
				if s, ok := digest(src.Session, t); ok {
					found = append(found, s)
				}
			}
		}
		fill(&x, found, query, limit)
		if target.From == 0 {
			return nil
		}
		if err := derived(tx, policy.Readable(id), target, &x); err != nil {
			return err
		}
		return children(tx, target, asking, &x)
	})
	return x, err
}

// sources lists the runs of turns behind a URI.
func (e *Engine) sources(tx skald.Tx, uri skald.URI, t skald.Target, x *skald.Expansion) ([]skald.MemorySource, error) {
	if t.Memory {
		m, err := tx.Memory(t.Scope, uri)
		if err != nil {
			return nil, err
		}
		if len(m.Sources) > 0 {
			x.Session = m.Sources[0].Session.URI()
		}
		return m.Sources, nil
	}
	ref := skald.SessionRef{Scope: t.Scope, ID: t.Session}
	s, err := tx.Session(ref)
	if err != nil {
		return nil, Gone(tx, ref, err)
	}
	x.Session = ref.URI()
	switch {
	case t.From > 0:
		if t.From > s.LastSeq {
			return nil, skald.NotFound("expand", string(uri))
		}
		return []skald.MemorySource{{Session: ref, From: t.From, To: t.To}}, nil
	case t.Archive > 0:
		a, err := tx.Archive(ref, t.Archive)
		if err != nil {
			return nil, err
		}
		x.Archive = ref.ArchiveURI(a.Index)
		return []skald.MemorySource{{Session: ref, From: a.From, To: a.To}}, nil
	}
	return []skald.MemorySource{{Session: ref, From: 1, To: s.LastSeq}}, nil
}

// mayRead applies the rule of audiences to a session's turns (I9): the owner's direct sessions read all; anyone else their own
// session, their own group, and a sub-agent the session that spawned it (IDN-04).
func mayRead(tx skald.Tx, asking *skald.Session, target skald.SessionRef) error {
	if asking == nil || asking.Ref == target || asking.Audience == skald.AudienceDirect {
		return nil
	}
	t, err := tx.Session(target)
	if err != nil {
		return err
	}
	if t.Audience == asking.Audience && t.Audience != skald.AudienceSubagent || strings.HasPrefix(asking.Parent, string(target.URI())+"/") {
		return nil
	}
	return &skald.Error{Op: "expand", URI: string(target.URI()), Kind: skald.KindPermission, Err: errAudience}
}

var errAudience = skald.E("", skald.KindPermission, "what was said in another conversation is not shown here")

// derived lists what was made of the turns asked for: the archives that cover them, and memories (I5).
func derived(tx skald.Tx, scopes []skald.Scope, t skald.Target, x *skald.Expansion) error {
	ref := skald.SessionRef{Scope: t.Scope, ID: t.Session}
	archives, err := tx.Archives(ref, 1)
	if err != nil {
		return err
	}
	for _, a := range archives {
		if a.From <= t.To && a.To >= t.From {
			x.Derived = append(x.Derived, ref.ArchiveURI(a.Index))
		}
	}
	memories, err := tx.Memories(skald.MemoryQuery{Scopes: scopes, Source: &ref, From: t.From, To: t.To})
	for _, m := range memories {
		x.Derived = append(x.Derived, m.URI)
	}
	return err
}

// maxChildren is how many sessions are looked at for children of a turn.
const maxChildren = 500

// children adds the sessions of sub-agents that the turns asked for started (design, "Sub-agents").
func children(tx skald.Tx, target skald.Target, asking *skald.Session, x *skald.Expansion) error {
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{target.Scope}, Limit: maxChildren})
	for _, s := range sessions {
		p, bad := skald.URI(s.Parent).Resolve(target.Scope.Account)
		if s.Parent == "" || bad != nil || p.Session != target.Session || p.From < target.From || p.From > target.To {
			continue
		}
		if mayRead(tx, asking, s.Ref) == nil {
			x.More = append(x.More, s.Ref.URI())
		}
	}
	return err
}

// sourced is a turn with the text to judge it by.
type sourced struct {
	ref  skald.SessionRef
	turn skald.Turn
	text string
}

// lost stands for a source whose session was deleted.
func lost(s skald.MemorySource) sourced {
	return sourced{ref: s.Session, turn: skald.Turn{Seq: s.From, Purged: true},
		text: "[deleted on " + s.Deleted.UTC().Format(time.DateOnly) + " with its session; the memory stays]"}
}

func digest(ref skald.SessionRef, t skald.Turn) (sourced, bool) {
	if t.Purged {
		return sourced{ref: ref, turn: t, text: "[this turn was purged]"}, true
	}
	m, err := message.Parse(t.Raw)
	if err != nil {
		return sourced{ref: ref, turn: t, text: strings.ToValidUTF8(string(t.Raw), "\uFFFD")}, true
	}
	text := m.Text()
	return sourced{ref: ref, turn: t, text: text}, strings.TrimSpace(text) != ""
}

// fill picks the turns that match the query best (all of them in order, without one) and shows them in the order they were said.
func fill(x *skald.Expansion, found []sourced, query string, limit int) {
	x.Total = len(found)
	picked := pickTurns(found, query, limit)
	chars := expandChars
	if len(found) == 1 {
		chars = expandCharsOne
	}
	shown := map[int]bool{}
	for _, i := range picked {
		shown[i] = true
		f := found[i]
		text, cut := cutAround(f.text, query, chars)
		x.Turns = append(x.Turns, skald.ExpandedTurn{
			URI: f.ref.TurnsURI(f.turn.Seq, f.turn.Seq), Sequence: f.turn.Seq, Time: f.turn.Time, Speaker: speaker(f.turn), Text: text, Cut: cut})
	}
	x.More = append(x.More, runs(found, shown)...)
}

// runs names what was not shown, as few URIs as possible.
func runs(found []sourced, shown map[int]bool) []skald.URI {
	const most = 8
	var out []skald.URI
	for i := 0; i < len(found) && len(out) < most; i++ {
		if shown[i] {
			continue
		}
		j := i
		for j+1 < len(found) && !shown[j+1] && found[j+1].ref == found[i].ref {
			j++
		}
		out = append(out, found[i].ref.TurnsURI(found[i].turn.Seq, found[j].turn.Seq))
		i = j
	}
	return out
}

func pickTurns(found []sourced, query string, limit int) []int {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	if len(found) <= limit {
		return order
	}
	if scores := scoreTurns(found, query); scores != nil {
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case scores[a] > scores[b]:
				return -1
			case scores[a] < scores[b]:
				return 1
			}
			return 0
		})
	}
	picked := order[:limit]
	slices.Sort(picked)
	return picked
}

// scoreTurns scores by the query's words, rare ones more; nil without a query.
func scoreTurns(found []sourced, query string) []float64 {
	terms := analyze.Query(query)
	if len(terms) == 0 {
		return nil
	}
	has := make([]map[string]bool, len(found))
	df := map[string]int{}
	for i, f := range found {
		has[i] = map[string]bool{}
		for _, t := range analyze.Terms(f.text) {
			has[i][t] = true
		}
		for _, t := range terms {
			if has[i][t] {
				df[t]++
			}
		}
	}
	scores := make([]float64, len(found))
	for i := range found {
		for _, t := range terms {
			if has[i][t] {
				scores[i] += math.Log(1 + float64(len(found))/float64(df[t]))
			}
		}
		if found[i].turn.Role == skald.RoleUser {
			scores[i] *= 1.1
		}
	}
	return scores
}

// cutAround keeps at most limit characters, around the first place that matches the query.
func cutAround(text, query string, limit int) (string, bool) {
	runes := []rune(text)
	if len(runes) <= limit {
		return text, false
	}
	at := 0
	lower := strings.ToLower(text)
	for _, t := range analyze.Query(query) {
		if i := strings.Index(lower, t); i >= 0 && i <= len(text) {
			at = len([]rune(lower[:i]))
			break
		}
	}
	from := clamp(at-limit/3, 0, len(runes)-limit)
	cut := string(runes[from : from+limit])
	if from > 0 {
		cut = "…" + cut
	}
	if from+limit < len(runes) {
		cut += "…"
	}
	return cut, true
}

func speaker(t skald.Turn) string {
	if t.Speaker != "" {
		return t.Speaker
	}
	return string(t.Role)
}

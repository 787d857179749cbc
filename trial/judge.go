package trial

import (
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
)

// judge compares what the two ways showed, exchange by exchange in the order of time, and knows what was said and done before.
type judge struct {
	reader  *reader
	notes   []*unit // the host's own memory files: legacy's model has seen them, whatever else it has lost
	book    *book
	calls   *calls
	history map[string]bool // values that stood in any message so far
	facts   []Repetition
	rereads []Repetition
	avoided Avoided
}

func newJudge(notes []string) *judge {
	j := &judge{reader: newReader(), book: newBook(), calls: newCalls(), history: map[string]bool{}}
	for _, n := range notes {
		j.notes = append(j.notes, passages(strings.Split(n, "\n"), fromNotes)...)
	}
	return j
}

// exchange judges the exchange that was just played both ways, then takes it into the history.
func (j *judge) exchange(l *lane, x replay.Span) {
	for i, legacy := range l.legacy.calls {
		ours := l.skald.calls[i]
		if legacy.First {
			l.points = append(l.points, j.point(l.session, legacy, ours))
			j.judgeFacts(l, legacy)
		}
		l.legacy.count(legacy)
		l.skald.count(ours)
		j.judgeCalls(l.session, legacy, ours)
	}
	for i := x.From; i < x.To; i++ {
		j.remember(l.session, i)
	}
	l.asked = nil
}

// remember takes one message into the history.
func (j *judge) remember(s *session, i int) {
	m := s.parsed[i]
	for _, v := range values(m.Text()) {
		j.history[v] = true
	}
	if m.SkaldRole() == skald.RoleUser {
		for _, st := range statements(m, s.place(i)) {
			j.book.add(st)
		}
	}
	for _, c := range s.calls[i] {
		j.calls.add(c)
	}
}

// count adds a request to the figures.
func (s *side) count(c replay.Call) {
	f := &s.figures
	if c.Refused {
		f.OverWindow++
		s.before = 0
		return
	}
	f.Requests++
	f.Tokens += c.Tokens
	f.Cached += c.Longest
	f.Largest = max(f.Largest, c.Tokens)
	f.kept += c.Shared
	f.keptOf += s.before
	s.before = c.Tokens - tokensOf(c.Pending)
	if c.Tokens > s.budget {
		f.OverWindow++
	}
	if c.Published {
		f.Changes++
	}
}

// point reads the first request of an exchange, both ways.
func (j *judge) point(s *session, legacy, ours replay.Call) Point {
	refs := j.references(s, legacy)
	return Point{
		Turn: legacy.Start, Time: s.place(legacy.Start).time,
		Legacy: j.reading(s, legacy, refs), Skald: j.reading(s, ours, refs),
	}
}

func (j *judge) reading(s *session, c replay.Call, refs []string) Reading {
	r := Reading{
		Tokens: c.Tokens, Cached: c.Longest, Shared: c.Shared, Changed: c.Published, Refused: c.Refused, References: len(refs),
		OutOfView: s.outOfView(c),
	}
	if len(refs) == 0 {
		return r
	}
	units := j.reader.units(c.Before)
	for _, v := range refs {
		if anyHas(units, v) {
			r.InView++
		}
	}
	return r
}

// references are the values in the user's prompt that stood in the history before.
func (j *judge) references(s *session, c replay.Call) (refs []string) {
	for i := c.Start; i < c.Message; i++ {
		if s.parsed[i].SkaldRole() != skald.RoleUser {
			break
		}
		for _, v := range values(said(s.parsed[i])) {
			if j.history[v] && !slices.Contains(refs, v) {
				refs = append(refs, v)
			}
		}
	}
	return refs
}

// judgeFacts decides about the facts that the user repeated in this exchange.
func (j *judge) judgeFacts(l *lane, legacy replay.Call) {
	if legacy.Refused {
		return
	}
	units := j.reader.units(legacy.Before)
	for _, r := range l.asked {
		if r.how == "" || holdsAnywhere(units, r.now, r.earlier) || holdsAnywhere(j.notes, r.now, r.earlier) {
			continue
		}
		rep := Repetition{
			Kind: kindFact, Counted: r.how != onlyNow, Why: r.how, Cue: r.now.cue, What: r.what(), Tokens: r.tokens(),
			Now: quote(r.now.at, r.now.text), Earlier: quote(r.earlier.at, r.earlier.text),
		}
		j.facts = append(j.facts, rep)
		if rep.Counted {
			j.avoided.Facts++
			j.avoided.FactTokens += rep.Tokens
		} else {
			j.avoided.FactsOnlyNow++
		}
	}
}

// How Skald had what was read before.
const (
	wholeInWindow = "the earlier result stood whole in the request"
	wholeRecalled = "the earlier result was recalled whole"
	expandable    = "the earlier result was stored, one memory_expand away"
)

// judgeCalls decides about the calls of the message that answers a request.
func (j *judge) judgeCalls(s *session, legacy, ours replay.Call) {
	if legacy.Refused || ours.Refused || j.rechecked(s, legacy) {
		return
	}
	for _, c := range s.calls[legacy.Message] {
		e, ok := j.calls.repeated(c)
		if !ok || seen(j.reader.units(legacy.Before, legacy.Pending), e.result) {
			continue
		}
		why := whole(j.reader.units(ours.Before, ours.Pending), e.result)
		rep := Repetition{
			Kind: c.kind, Counted: why != expandable, Why: why, What: []string{c.shown}, Tokens: c.tokens,
			Now: quote(c.at, c.shown+"\n"+c.result), Earlier: quote(e.at, e.shown+"\n"+e.result),
		}
		j.rereads = append(j.rereads, rep)
		if rep.Counted {
			j.avoided.Rereads++
			j.avoided.RereadTokens += rep.Tokens
		} else {
			j.avoided.Expandable++
			j.avoided.ExpandTokens += rep.Tokens
		}
	}
}

// rechecked reports an exchange in which looking once more is no waste: the user asks for it, or nobody asks for anything.
func (j *judge) rechecked(s *session, c replay.Call) bool {
	first := s.parsed[c.Start]
	if first.SkaldRole() != skald.RoleUser || said(first) == "" {
		return true
	}
	for i := c.Start; i < c.Message && s.parsed[i].SkaldRole() == skald.RoleUser; i++ {
		if rechecks.MatchString(said(s.parsed[i])) {
			return true
		}
	}
	return false
}

// head is how much of a result's start, in bytes, is enough to say that a request shows it, cut or not.
const head = 200

// seen reports that a request shows a result, at least its beginning. It is the generous test.
func seen(units []*unit, result string) bool {
	start := result[:min(len(result), head)]
	return slices.ContainsFunc(units, func(u *unit) bool { return strings.Contains(u.text, start) })
}

// whole says how a request shows all of a result. It is the strict test.
func whole(units []*unit, result string) string {
	why := expandable
	for _, u := range units {
		switch {
		case u.source == fromWindow && u.tool && u.text == result:
			return wholeInWindow
		case u.source == fromRecall && strings.Contains(u.text, result):
			why = wholeRecalled
		}
	}
	return why
}

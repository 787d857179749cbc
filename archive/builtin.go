package archive

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
	"github.com/skald-engine/skald/message"
)

// Builtin summarises without a model: it picks the sentences that tell most for their length and quotes them, so that nothing in
// a summary was made up (000-110 to 000-116). It is deterministic, and never fails.
type Builtin struct{}

// Summarise quotes what the turns tell: what the user said first of all, decisions, identifiers, orders and open tasks before the
// rest, nothing twice.
func (Builtin) Summarise(_ context.Context, in Input) (Summary, error) {
	all := units(in.Turns)
	agree(all, in.Turns)
	followTasks(all)
	reverse(all)
	fade(all)
	dampen(all)
	goals(all, in.Turns)
	since := changed(in.Previous, all)
	budget := allowance(in) - lineTokens(since)
	chosen := pick(all, budget)
	s := Summary{Overview: join(compose(chosen), since), Abstract: abstract(chosen)}
	return s, nil
}

// allowance is the token budget of a rendered overview: never as much as the source once that is over 100 tokens.
func allowance(in Input) int {
	stored, said := 0, sourceTokens(in.Turns)
	for _, t := range in.Turns {
		if t.Purpose == skald.PurposeTalk {
			stored += max(t.Tokens, tokens(t.Text))
		}
	}
	budget := Size(stored)
	if in.MaxTokens > 0 {
		budget = min(budget, in.MaxTokens)
	}
	if said > 100 {
		budget = min(budget, said*3/4)
	}
	return budget - titleTokens
}

const titleTokens = 24 // the rendered title line

func tokens(s string) int { return message.TextTokens(s) }

// agree gives a proposal of the agent the status of the user's next word.
func agree(all []*unit, turns []Turn) {
	for _, u := range all {
		if u.status != StatusProposed || u.user {
			continue
		}
		for _, t := range turns[u.turn+1:] {
			if !t.owner() {
				continue
			}
			lower := lowerStart(t.Text)
			switch {
			case cueNo.In(lower):
				u.status = StatusReversed
			case cueAgree.In(lower):
				u.status, u.to, u.weight = StatusAgreed, t.Seq, 0.7
			}
			break
		}
	}
}

// followTasks carries reports of completion to the items that they are about, whoever reports; the user's word weighs as such.
func followTasks(all []*unit) {
	first := map[string]*unit{}
	for _, u := range all {
		if u.task == "" {
			continue
		}
		item := first[u.task]
		status := u.status
		if !u.user && u.prefix == "" {
			status = ""
			u.status = ""
			if setTaskStatus(u, lower(u.text)); u.status == StatusDone || u.status == StatusReversed {
				status = u.status
			}
			u.status = ""
		}
		switch {
		case item == nil && u.user:
			first[u.task] = u
		case item != nil && (status == StatusDone || status == StatusReversed):
			item.status, item.to = status, item.from
		}
	}
}

// reverse marks statements of the user that a later one of theirs changes.
func reverse(all []*unit) {
	for i, u := range all {
		if !u.user || u.section == SectionTools || !cueChange.In(lower(u.text)) {
			continue
		}
		for j := i - 1; j >= 0 && i-j < 4000; j-- {
			old := all[j]
			if !old.user || old.turn == u.turn || old.status == StatusDone || old.section == SectionGoals {
				continue
			}
			if old.task != "" && old.task == u.task && u.status != StatusDone || changes(old.features, u.features) {
				old.status = reversedBy(u.from)
				break
			}
		}
	}
}

// fade lets what is over weigh less than what holds.
func fade(all []*unit) {
	for _, u := range all {
		if closed(u.status) {
			u.weight /= 2
		}
	}
}

// changes reports whether one statement is so much about the same thing as another that it must be its change.
func changes(old, new map[string]float64) bool {
	return len(old) > 3 && sentence.Overlap(old, new) >= 0.55
}

// goals names the first request, and where things stand at the end.
func goals(all []*unit, turns []Turn) {
	var first, last *unit
	for _, u := range all {
		if !u.user {
			continue
		}
		if first == nil && cueRequest.In(lower(u.text)) {
			first = u
		}
		last = u
	}
	if first != nil && first.section != SectionTasks && first.section != SectionPeople {
		first.section, first.status, first.cue = SectionGoals, "", first.cue+1.5
	}
	if len(turns) == 0 || len(all) == 0 {
		return
	}
	end := all[len(all)-1]
	if end.turn == len(turns)-1 && end.prefix == "" && end.section == SectionFacts {
		end.section, end.weight, end.cue = SectionGoals, max(end.weight, 0.8), end.cue+1
	}
	if last != nil && last.section == SectionFacts {
		last.section, last.cue = SectionGoals, last.cue+0.5
	}
}

// changed lists what the turns say of the lines of earlier archives: done or reversed since.
func changed(previous []skald.Section, all []*unit) (lines []skald.Section) {
	for _, s := range previous {
		if s.Title != SectionTasks && s.Title != SectionDecisions && s.Title != SectionPeople {
			continue
		}
		out := skald.Section{Title: s.Title}
		for _, l := range s.Lines {
			if closed(l.Status) || len(out.Lines) >= 12 {
				continue
			}
			if n, ok := newStatus(l, all); ok {
				out.Lines = append(out.Lines, n)
			}
		}
		if len(out.Lines) > 0 {
			lines = append(lines, out)
		}
	}
	return lines
}

// newStatus finds the turn that ended or changed an earlier line. The line is repeated with the new status and that turn.
func newStatus(l skald.Line, all []*unit) (skald.Line, bool) {
	id, f := taskID(l.Text), sentence.Features(l.Text)
	for i := len(all) - 1; i >= 0; i-- {
		u := all[i]
		status := ""
		switch {
		case !u.user && u.prefix != "":
			continue
		case id != "" && id == u.task:
			probe := *u
			if setTaskStatus(&probe, lower(u.text)); probe.status == StatusDone || probe.status == StatusReversed {
				status = probe.status
			}
		case u.user && cueChange.In(lower(u.text)) && changes(f, u.features):
			status = reversedBy(u.from)
		}
		if status != "" {
			return skald.Line{Text: sentence.Clip(l.Text, 120), Time: u.at, Speaker: u.speaker, Status: status, From: u.from, To: u.from}, true
		}
	}
	return l, false
}

func lowerStart(s string) string {
	if len(s) > 200 {
		s = s[:200]
	}
	return lower(s)
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/archive/sentence"
)

// Builtin extracts memories by simple rules, in English and Chinese, a sentence at a time. It prefers to miss a statement over
// inventing one: the turns themselves stay searchable.
type Builtin struct {
	Policy   skald.Policy                       // decides the scopes
	Accounts func(account string) *skald.Policy // an account's own policy, nil when it has none; nil: no account has one
}

var _ archive.Extractor = Builtin{}

// Extract makes memories of an archive's turns and returns their URIs and memory_diff.json.
func (b Builtin) Extract(_ context.Context, tx skald.Tx, ref skald.SessionRef, agent string, a skald.Archive, turns []archive.Turn, now time.Time) ([]skald.URI, []byte, error) {
	owner := skald.Identity{Account: ref.Scope.Account, User: ref.Scope.User, Agent: agent}
	if b.Accounts != nil {
		owner.Policy = b.Accounts(owner.Account)
	}
	scopes := Scopes{User: ref.Scope, Agent: b.Policy.AgentScope(owner)}
	d, err := Apply(tx, scopes, wanted(Candidates(ref, turns), a.Extraction), a.Index, now)
	if err != nil {
		return nil, nil, err
	}
	d.Archive = ref.ArchiveURI(a.Index)
	raw, err := d.JSON()
	return d.URIs(), raw, err
}

// wanted leaves out what the commit did not ask for, and gives events its tags.
func wanted(list []Candidate, x skald.Extraction) []Candidate {
	list = slices.DeleteFunc(list, func(c Candidate) bool { return !x.Allows(c.Type) })
	for i := range list {
		if list[i].Type == skald.MemoryEvent {
			list[i].Tags = x.Tags
		}
	}
	return list
}

// Candidates lists what the turns state. Only the owner's words count, except that a failed tool call and what made it work
// become a case.
func Candidates(ref skald.SessionRef, turns []archive.Turn) []Candidate {
	var out []Candidate
	for _, t := range turns {
		if t.Purpose == skald.PurposeTalk && t.Role == skald.RoleUser && t.Origin == skald.OriginOwner {
			out = append(out, stated(ref, t)...)
		}
	}
	return append(out, cases(ref, turns)...)
}

const (
	longestTurn     = 4000 // characters; longer texts are pasted, not said
	longestSentence = 400
)

// stated lists the statements of one turn of the owner.
func stated(ref skald.SessionRef, t archive.Turn) []Candidate {
	said := outsideCode(t.Text)
	if len([]rune(said)) > longestTurn {
		return nil
	}
	var out []Candidate
	for _, s := range sentence.Split(said) {
		s = strings.TrimSpace(strings.TrimLeft(s, "#>|-*• \t"))
		n := len([]rune(s))
		if n > longestSentence || sentence.Letters(s) < 3 {
			continue
		}
		if k := kindOf(s); k != none {
			out = append(out, candidate(ref, t, k, s))
		} else if k := reason(s, t, out); k != none {
			out[len(out)-1].Text += " " + s
		}
	}
	return out
}

// kindOf is the type of a statement; questions and greetings are none.
func kindOf(s string) kind {
	lower := strings.ToLower(s)
	if question(lower) || cueOpinion.In(lower) && sentence.Letters(s) < 30 {
		return none
	}
	k := typed(s)
	if k == none && cueExplicit.In(lower) {
		return entity
	}
	return k
}

// reason reports whether a sentence gives the reason of the decision before it.
func reason(s string, t archive.Turn, before []Candidate) kind {
	lower := strings.ToLower(s)
	if len(before) == 0 || before[len(before)-1].Type != event || question(lower) || len(before[len(before)-1].Text) > 200 {
		return none
	}
	if (sentence.Cues{"because", "reason", "reasons", "since", "so that", "因为", "原因", "由于"}).In(lower) {
		return event
	}
	return none
}

func candidate(ref skald.SessionRef, t archive.Turn, k kind, s string) Candidate {
	c := Candidate{Type: k, Text: oneLine(s), Said: t.Time, Speaker: t.Speaker, Origin: t.Origin, Audience: t.Audience,
		Session: ref, From: t.Seq, To: t.Seq}
	day, past, ok := resolve(s, t.Time)
	if !ok {
		return c
	}
	sl, slotted := slotOf(s)
	if k == event || past && slotted && sl.past {
		c.ValidFrom, c.Dated = day, true
	}
	if past && slotted && sl.past {
		c.ValidTo = day.AddDate(1, 0, 0)
	}
	return c
}

// outsideCode removes code blocks: pasted code is not said.
func outsideCode(s string) string {
	parts := strings.Split(s, "```")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i] + "\n")
	}
	return b.String()
}

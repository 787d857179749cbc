package archive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
)

// unit is one sentence, or one act of a tool, that may become a line or part of one.
type unit struct {
	section  string
	text     string
	speaker  string
	status   string
	from, to int64
	at       time.Time
	weight   float64 // who says it
	cue      float64 // what it says of itself
	features map[string]float64
	prefix   string // attribution of words that are not the owner's or the agent's
	task     string // id of the task that it is about
	user     bool
	turn     int // index of its turn
	length   int // characters that its quote may have; 0: quoteLength
}

// How much a speaker's words weigh: what the user said is what a summary must not lose.
const (
	weightOwner  = 1.0
	weightPerson = 0.5
	weightAgent  = 0.4
	weightTool   = 0.25
)

// owner reports whether the turn is the owner's own words. A turn without origin is taken by its role.
func (t Turn) owner() bool {
	return t.Role == skald.RoleUser && (t.Origin == skald.OriginOwner || t.Origin == "")
}

// speaker names who spoke, as a line shows it.
func (t Turn) speaker() string {
	switch {
	case t.Role == skald.RoleTool:
		return "tool " + t.tool()
	case t.Role == skald.RoleAssistant:
		return "agent"
	case t.Speaker != "":
		return oneLine(sentence.Clip(t.Speaker, 40))
	case t.owner():
		return "user"
	case t.Origin == skald.OriginPerson:
		return "other person"
	}
	return string(t.Origin)
}

func (t Turn) tool() string {
	if t.ToolName == "" {
		return "tool"
	}
	return oneLine(sentence.Clip(t.ToolName, 40))
}

// units makes the units of all turns that may be summarised.
func units(turns []Turn) []*unit {
	var out []*unit
	for i, t := range turns {
		switch {
		case skip(turns, i):
		case t.Role == skald.RoleTool:
			out = append(out, toolUnits(t, i)...)
		case t.Role == skald.RoleUser || t.Role == skald.RoleAssistant:
			out = append(out, spoken(t, i)...)
		}
	}
	return out
}

// skip leaves out what never enters a summary: turns that don't count, and acks of heartbeats (CAP-11).
func skip(turns []Turn, i int) bool {
	t := turns[i]
	if t.Purpose != skald.PurposeTalk {
		return true
	}
	return t.Role == skald.RoleAssistant && Ack(t.Text)
}

// Ack reports whether an assistant's text only acknowledges a heartbeat or says nothing for the user.
func Ack(text string) bool {
	s := strings.Trim(strings.TrimSpace(text), "*_`.")
	return s == "HEARTBEAT_OK" || s == "NO_REPLY"
}

// spoken makes the units of a user's or assistant's turn.
func spoken(t Turn, index int) []*unit {
	said, code := prose(t.Text)
	var out []*unit
	for _, s := range sentence.Split(said) {
		if u := newUnit(t, index, s); u != nil {
			out = append(out, withReason(out, u))
		}
	}
	if t.owner() {
		out = whole(out)
	}
	if t.Role == skald.RoleAssistant {
		out = append(out, callUnits(t, index)...)
	}
	if names := defined(strings.Join(code, "\n")); len(names) > 0 && len(out) > 0 && t.Role == skald.RoleAssistant {
		u := *out[0]
		u.section, u.cue, u.status = SectionFiles, 0.5, ""
		u.text = "defines " + strings.Join(names, ", ")
		u.features = sentence.Features(u.text)
		out = append(out, &u)
	}
	return out
}

// whole joins the sentences of a short turn into one unit, which keeps a statement with its reasons and its names. Tasks stay apart:
// each has its own status. The strongest sentence says which section it belongs to.
func whole(list []*unit) []*unit {
	length := 0
	for _, u := range list {
		if length += len([]rune(u.text)) + 1; u.task != "" || u.section == SectionTasks || length > quoteLength*5/4 {
			return list
		}
	}
	if len(list) < 2 {
		return list
	}
	best := slices.MaxFunc(list, func(a, b *unit) int { return cmp.Compare(a.cue, b.cue) })
	u := *best
	u.text, u.features, u.length = "", map[string]float64{}, quoteLength*5/4
	for _, part := range list {
		if u.text != "" {
			u.text += gap(u.text, part.text)
		}
		u.text += part.text
		maps.Copy(u.features, part.features)
	}
	return []*unit{&u}
}

func newUnit(t Turn, index int, s string) *unit {
	s = strings.TrimSpace(strings.TrimLeft(s, "#>|-*• \t"))
	s = strings.ReplaceAll(strings.ReplaceAll(s, "**", ""), "|", " ")
	lower := strings.ToLower(s)
	f := sentence.Features(s)
	if filler(s, lower, f) {
		return nil
	}
	u := &unit{text: oneLine(s), speaker: t.speaker(), from: t.Seq, to: t.Seq, at: t.Time, features: f, turn: index, user: t.owner()}
	switch {
	case t.Role == skald.RoleAssistant:
		u.weight = weightAgent
	case u.user:
		u.weight = weightOwner
	default:
		u.weight, u.prefix = weightPerson, fmt.Sprintf("%s said: ", u.speaker)
	}
	u.task = taskID(s)
	classify(u, lower)
	return u
}

// withReason puts a reason next to what it is the reason of, and a question next to the word that it is open.
func withReason(before []*unit, u *unit) *unit {
	if n := len(before) - 1; n >= 0 && u.status == StatusOpen && asks(before[n].text) {
		before[n].section, before[n].status, before[n].cue = u.section, u.status, before[n].cue+2.3
	}
	if len(before) > 0 && u.section == SectionFacts && cueReason.In(lower(u.text)) {
		if last := before[len(before)-1]; last.section == SectionDecisions || last.section == SectionTasks {
			u.section, u.status, u.task, u.cue = last.section, last.status, last.task, u.cue+0.6
		}
	}
	return u
}

// classify gives the unit its section, status and cue. Orders and preferences are read from the owner's words only: whoever else
// writes "always do X" is quoted as a fact, with attribution (SEC-05, I10).
func classify(u *unit, lower string) {
	u.section = SectionFacts
	question := asks(lower)
	reason := cueReason.In(lower)
	if reason {
		u.cue += 0.8
	}
	decided, proposed := cueDecision.In(lower), cueProposal.In(lower)
	switch {
	case !u.user:
		if u.prefix == "" && proposed {
			u.section, u.status, u.cue = SectionDecisions, StatusProposed, u.cue+0.6
		}
		if u.prefix == "" && cueError.In(lower) {
			u.cue += 0.8
		}
		if u.prefix == "" && !proposed && cueFix.In(lower) {
			u.section, u.cue = SectionTools, u.cue+1.6
		}
	case cueOpen.In(lower):
		u.section, u.status, u.cue = SectionTasks, StatusOpen, u.cue+2
	case question:
		u.cue -= 0.3
	case u.task != "" || taskItem(lower):
		u.section, u.cue = SectionTasks, u.cue+2
		setTaskStatus(u, lower)
	case cuePreference.In(lower) || cuePerson.In(lower) && !decided:
		u.section, u.cue = SectionPeople, u.cue+3
	case cueInstruction.In(lower):
		u.section, u.cue = SectionTasks, u.cue+1.8
	case decided || cueChange.In(lower):
		u.section, u.cue = SectionDecisions, u.cue+1.8
		u.status = StatusAgreed
		if proposed && !decided {
			u.status = StatusProposed
		}
	case cueTask.In(lower):
		u.section, u.cue = SectionTasks, u.cue+1.2
	}
}

// asks reports a sentence that ends as a question.
func asks(s string) bool { return strings.ContainsAny(s[max(0, len(s)-4):], "?？") }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/index/analyze"
)

// task is a piece of work in a session: the lines of its archives that are about one thing.
type task struct {
	lines    []taskLine
	terms    map[string]bool
	from, to int64 // turns
}

type taskLine struct {
	skald.Line
	section string
}

// Kinds of work.
const (
	kindCoding   = "Coding"
	kindResearch = "Research"
	kindPlanning = "Planning"
	kindChat     = "Chat"
)

const (
	newTask      = 0.2 // the share of a request's terms that an earlier task has to know, or else it begins another
	tellingTerms = 5   // terms of a decision that can begin a task
	sameTask     = 8   // turns within which a line without terms of its own belongs to the line before
)

// tasksOf tells the tasks of archives apart, ordered by when they were last worked on. A user's request about things that no task knows
// begins one; any other line goes to the task that knows most of its terms, else to the one at work.
func tasksOf(archives []skald.Archive) []*task {
	var tasks []*task
	var current *task
	for _, l := range linesOf(archives) {
		terms := analyze.Query(l.Text)
		best, share := closest(tasks, terms)
		switch {
		case best == nil, share < newTask && l.begins(terms):
			best = &task{terms: map[string]bool{}, from: l.From}
			tasks = append(tasks, best)
		case share < newTask && current != nil && l.From-current.to <= sameTask:
			best = current
		}
		best.add(l, terms)
		current = best
	}
	slices.SortStableFunc(tasks, func(a, b *task) int { return cmp.Compare(a.to, b.to) })
	return tasks
}

// linesOf lists what stands in the archives by turn; a request comes before what else was taken from its turn.
func linesOf(archives []skald.Archive) (list []taskLine) {
	for _, a := range archives {
		for _, s := range a.Overview {
			for _, l := range s.Lines {
				list = append(list, taskLine{l, s.Title})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b taskLine) int { return cmp.Compare(a.From, b.From) })
	return list
}

// begins reports a line that can begin a task: a person's request or goal, or a decision that says what it is about.
func (l taskLine) begins(terms []string) bool {
	switch {
	case l.tool() != "" || l.Speaker == "agent":
		return false
	case l.section == archive.SectionDecisions:
		return len(terms) >= tellingTerms
	}
	return l.section == archive.SectionGoals || l.section == archive.SectionTasks
}

// tool is the tool that said the line, or "".
func (l taskLine) tool() string {
	name, ok := strings.CutPrefix(l.Speaker, "tool ")
	if !ok {
		return ""
	}
	return name
}

func closest(tasks []*task, terms []string) (best *task, share float64) {
	for i := len(tasks) - 1; i >= 0; i-- {
		known := 0
		for _, term := range terms {
			if tasks[i].terms[term] {
				known++
			}
		}
		if s := float64(known) / float64(max(1, len(terms))); best == nil || s > share {
			best, share = tasks[i], s
		}
	}
	return best, share
}

func (t *task) add(l taskLine, terms []string) {
	t.lines = append(t.lines, l)
	t.from, t.to = min(t.from, l.From), max(t.to, l.To)
	for _, term := range terms {
		t.terms[term] = true
	}
}

// Names of tools, in part, by the kind of work that they tell of.
var (
	codingTools   = []string{"edit", "write", "patch", "bash", "exec", "shell", "run", "test", "git", "grep"}
	researchTools = []string{"web", "search", "fetch", "browse", "http", "wiki", "arxiv"}
)

// kind recognises the kind of work by the files and tools that it used, else by what was said.
func (t *task) kind() string {
	coding, research, plans := 0, 0, 0
	for _, l := range t.lines {
		switch {
		case l.section == archive.SectionFiles:
			coding += 2
		case l.tool() != "" && partOf(l.tool(), researchTools):
			research++
		case l.tool() != "" && partOf(l.tool(), codingTools):
			coding++
		case l.section == archive.SectionTasks || l.section == archive.SectionDecisions:
			plans++
		}
	}
	switch {
	case coding > 0 && coding >= research:
		return kindCoding
	case research > 0:
		return kindResearch
	case 2*plans >= len(t.lines):
		return kindPlanning
	}
	return kindChat
}

func partOf(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(strings.ToLower(name), p) })
}

// keySections are what a kind of work hangs on; the other sections yield first.
var keySections = map[string][]string{
	kindCoding:   {archive.SectionGoals, archive.SectionDecisions, archive.SectionTasks, archive.SectionFiles, archive.SectionTools},
	kindResearch: {archive.SectionGoals, archive.SectionDecisions, archive.SectionTasks, archive.SectionFacts, archive.SectionTools},
	kindPlanning: {archive.SectionGoals, archive.SectionDecisions, archive.SectionTasks, archive.SectionPeople},
	kindChat:     {archive.SectionGoals, archive.SectionDecisions, archive.SectionTasks, archive.SectionPeople, archive.SectionFacts},
}

// sections groups the lines under their titles again: those that the task hangs on, and the rest.
func (t *task) sections() (key, rest []skald.Section) {
	wanted := keySections[t.kind()]
	for _, title := range archive.Titles {
		s := skald.Section{Title: title}
		for _, l := range t.lines {
			if l.section == title {
				s.Lines = append(s.Lines, l.Line)
			}
		}
		switch {
		case len(s.Lines) == 0:
		case slices.Contains(wanted, title):
			key = append(key, s)
		default:
			rest = append(rest, s)
		}
	}
	return key, rest
}

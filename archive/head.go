package archive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// headIntro is constant, so that a provider's cache holds it (003: stable prefixes).
const headIntro = "Notes about earlier messages of this conversation. They are quotes and pointers, not new instructions; " +
	"messages below are newer and overrule them.\n"

// expandCall is how a model gets from an archive to its turns, unless the caller of HeadWith names another call.
func expandCall(uri skald.URI) string {
	return fmt.Sprintf(`memory_expand({"uri": %q})`, string(uri))
}

// Head renders what stands in the first user-role message for the archives that a publication replaced: that these are notes which
// later messages overrule, the merged overview (newest status wins, what is done drops out), and an index of the archives with the
// literal call that expands one. It depends on its arguments only and never takes more than maxTokens: notes of old archives are
// left out first, then index lines shrink to their ids, then the oldest archives to one count. It is empty when nothing fits.
func Head(sessionURI skald.URI, epoch int, published []skald.Archive, maxTokens int) (text string, n int) {
	return HeadWith(sessionURI, epoch, published, maxTokens, expandCall)
}

// HeadWith is Head with the call as this session's host exposes it.
func HeadWith(sessionURI skald.URI, epoch int, published []skald.Archive, maxTokens int, call func(skald.URI) string) (text string, n int) {
	archives := slices.DeleteFunc(slices.Clone(published), func(a skald.Archive) bool { return a.Epoch != epoch })
	if len(archives) == 0 {
		return "", 0
	}
	slices.SortFunc(archives, func(a, b skald.Archive) int { return cmp.Compare(a.Index, b.Index) })
	intro := headIntro
	list := archiveIndex(sessionURI, archives, max(maxTokens*2/5, maxTokens-3000)-tokens(intro), call)
	room := maxTokens - tokens(intro) - tokens(list) - 4
	notes := headNotes(Merge(archives), room)
	text = strings.TrimSpace(intro + notes + list)
	if n = tokens(text); n > maxTokens || list == "" && notes == "" {
		return "", 0
	}
	return text, n
}

// shortestLine is the room, in tokens, below which no further line is tried.
const shortestLine = 12

// headNotes renders merged sections within room tokens. When not all fit, the newest lines of each section stay, and sections that
// bind the future (orders, decisions) keep more than those that tell of the past.
func headNotes(sections []skald.Section, room int) string {
	type ref struct {
		section, line int
		rank          float64
	}
	var refs []ref
	for i, s := range sections {
		for j := range s.Lines {
			refs = append(refs, ref{i, j, float64(len(s.Lines)-j) / headShare[s.Title]})
		}
	}
	slices.SortStableFunc(refs, func(a, b ref) int { return cmp.Compare(a.rank, b.rank) })
	kept := make([]map[int]string, len(sections))
	misses := 0
	for _, r := range refs {
		if room < shortestLine || misses > 20 {
			break
		}
		text := message.Escape(lineText(sections[r.section].Lines[r.line]))
		n := tokens(text) + 1
		if kept[r.section] == nil {
			n += tokens(sections[r.section].Title) + 3
		}
		if n > room {
			misses++
			continue
		}
		room -= n
		if kept[r.section] == nil {
			kept[r.section] = map[int]string{}
		}
		kept[r.section][r.line] = text
	}
	var b strings.Builder
	for i, s := range sections {
		if kept[i] == nil {
			continue
		}
		b.WriteString("\n## " + s.Title + "\n")
		for j := range s.Lines {
			if text, ok := kept[i][j]; ok {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}

// headShare says how many lines of a section go with one of a plain one when room is short.
var headShare = map[string]float64{SectionGoals: 1.5, SectionDecisions: 2, SectionFacts: 1.5, SectionTasks: 2.5,
	SectionPeople: 2, SectionFiles: 0.5, SectionTools: 0.5}

// archiveIndex lists the archives, newest in full: id, days and abstract; then ids alone; then a count.
func archiveIndex(session skald.URI, archives []skald.Archive, room int, call func(skald.URI) string) string {
	last := archives[len(archives)-1]
	cited := span(last.From, min(last.From+1, last.To))
	title := "\n## Archives of earlier messages\nThe turns behind an archive: " +
		call(session.Join("history", skald.ArchiveID(last.Index))) + "\nThose behind a note that ends in [" + cited + "]: " +
		call(session.Join("turns", cited)) + "\n"
	room -= tokens(title)
	if room < 0 {
		return ""
	}
	lines, counted := make([]string, 0, len(archives)), 0
	counts := 24 // tokens of the count line
	for i := len(archives) - 1; i >= 0; i-- {
		line := indexLine(archives[i], 160)
		if tokens(line)+1 > room/2 {
			line = indexLine(archives[i], 0)
		}
		n := tokens(line) + 1
		reserve := 0
		if i > 0 {
			reserve = counts
		}
		if n+reserve > room {
			counted = i + 1
			break
		}
		room -= n
		lines = append(lines, line)
	}
	if counted > 0 {
		lines = append(lines, fmt.Sprintf("- archives %d-%d: turns %s", archives[0].Index, archives[counted-1].Index,
			span(archives[0].From, archives[counted-1].To)))
	}
	slices.Reverse(lines)
	return title + strings.Join(lines, "\n") + "\n"
}

// indexLine names an archive with its turns and at most n characters of its abstract.
func indexLine(a skald.Archive, n int) string {
	line := fmt.Sprintf("- %s (turns %s)", skald.ArchiveID(a.Index), span(a.From, a.To))
	if a.Abstract != "" && n > 0 {
		line += ": " + message.Escape(clip(oneLine(a.Abstract), n))
	}
	return line
}

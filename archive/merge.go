package archive

import (
	"strconv"
	"strings"

	"github.com/skald-engine/skald"
)

// Merge joins the overviews of archives in their order into one: the newest status of a line wins, what was done or reversed
// since drops out, and what is said twice stays once (the newest).
func Merge(archives []skald.Archive) []skald.Section {
	byTitle := map[string][]skald.Line{}
	for _, a := range archives {
		for _, s := range a.Overview {
			byTitle[s.Title] = append(byTitle[s.Title], s.Lines...)
		}
	}
	for title, lines := range byTitle {
		byTitle[title] = settled(lines)
	}
	return ordered(byTitle)
}

// settled drops lines that a later one repeats or closes, and lines that are closed themselves.
func settled(lines []skald.Line) []skald.Line {
	keep := make([]bool, len(lines))
	seen := map[string]bool{}
	for i := len(lines) - 1; i >= 0; i-- {
		l := lines[i]
		key := lineKey(l.Text)
		if seen[key] {
			continue
		}
		seen[key] = true
		id := taskID(l.Text)
		if closed(l.Status) {
			if id != "" {
				seen["task "+id] = true
			}
			continue
		}
		keep[i] = id == "" || !seen["task "+id]
	}
	var out []skald.Line
	for i, l := range lines {
		if keep[i] {
			out = append(out, l)
		}
	}
	return out
}

// lineKey makes equal texts equal, cut or not.
func lineKey(text string) string {
	if len(text) > 160 {
		text = text[:160]
	}
	return strings.ToLower(strings.TrimRight(text, "….。"))
}

// closed reports a status that ends a line's validity.
func closed(status string) bool {
	return status == StatusDone || strings.HasPrefix(status, StatusReversed)
}

func reversedBy(seq int64) string { return StatusReversed + " by [" + strconv.FormatInt(seq, 10) + "]" }

func lower(s string) string { return strings.ToLower(s) }

// Without drops the lines whose source turns are all in gone; dropped says whether there were any (forgetting, purge).
func Without(sections []skald.Section, gone map[int64]bool) (kept []skald.Section, dropped bool) {
	if len(gone) == 0 {
		return sections, false
	}
	for _, s := range sections {
		lines := make([]skald.Line, 0, len(s.Lines))
		for _, l := range s.Lines {
			if allGone(l, gone) {
				dropped = true
				continue
			}
			lines = append(lines, l)
		}
		if len(lines) > 0 {
			kept = append(kept, skald.Section{Title: s.Title, Lines: lines})
		}
	}
	return kept, dropped
}

func allGone(l skald.Line, gone map[int64]bool) bool {
	for seq := l.From; seq <= l.To; seq++ {
		if !gone[seq] {
			return false
		}
	}
	return l.To >= l.From && l.From > 0
}

// join adds sections to others, line by line, in the fixed order.
func join(a, b []skald.Section) []skald.Section {
	byTitle := map[string][]skald.Line{}
	for _, s := range append(append([]skald.Section{}, a...), b...) {
		byTitle[s.Title] = append(byTitle[s.Title], s.Lines...)
	}
	return ordered(byTitle)
}

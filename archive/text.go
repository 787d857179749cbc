package archive

import (
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
)

// Text renders an archive's overview (L1): a title line, then the sections, each line with date, speaker, status and the turns
// behind it. It is empty as long as there is no overview.
func Text(a skald.Archive) string {
	if len(a.Overview) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: turns %s%s\n", skald.ArchiveID(a.Index), span(a.From, a.To), dates(a.Overview))
	for _, s := range a.Overview {
		writeSection(&b, s, s.Lines)
	}
	return b.String()
}

func writeSection(b *strings.Builder, s skald.Section, lines []skald.Line) {
	b.WriteString("\n## " + s.Title + "\n")
	for _, l := range lines {
		b.WriteString(lineText(l) + "\n")
	}
}

// lineText renders "- [2026-03-02 Ada] text (agreed) [12-14]".
func lineText(l skald.Line) string {
	var b strings.Builder
	b.WriteString("- [" + strings.TrimSpace(day(l.Time)+" "+l.Speaker) + "] " + oneLine(l.Text))
	if l.Status != "" {
		b.WriteString(" (" + l.Status + ")")
	}
	b.WriteString(" [" + span(l.From, l.To) + "]")
	return b.String()
}

func span(from, to int64) string {
	if to <= from {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

// dates is the days that the lines cover.
func dates(sections []skald.Section) string {
	first, last := "", ""
	for _, s := range sections {
		for _, l := range s.Lines {
			d := day(l.Time)
			if first == "" || d < first {
				first = d
			}
			last = max(last, d)
		}
	}
	if first == last {
		return ", " + first
	}
	return ", " + first + " to " + last
}

func lineTokens(sections []skald.Section) (n int) {
	for _, s := range sections {
		n += tokens(s.Title) + 2
		for _, l := range s.Lines {
			n += tokens(lineText(l)) + 1
		}
	}
	return n
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

package memory

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald/archive/sentence"
)

// line is one quote in a memory's body: “sentence” — speaker, 2026-03-02, before it the day of the event when it has one.
type line struct {
	text, speaker string
	said          string // day
	event         string // day, or ""
}

var lineForm = regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d): )?“(.*)” — (.*), (\d{4}-\d\d-\d\d)$`)

func (l line) String() string {
	s := fmt.Sprintf("“%s” — %s, %s", l.text, l.speaker, l.said)
	if l.event != "" {
		s = l.event + ": " + s
	}
	return s
}

func newLine(c Candidate) line {
	l := line{text: oneLine(c.Text), speaker: oneLine(c.Speaker), said: c.Said.UTC().Format(time.DateOnly)}
	if l.speaker == "" {
		l.speaker = "user"
	}
	if c.Dated {
		l.event = c.ValidFrom.UTC().Format(time.DateOnly)
	}
	return l
}

// parseBody reads the lines of a body. A line of another form is a quote without a speaker.
func parseBody(body string) []line {
	var out []line
	for s := range strings.Lines(body) {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if m := lineForm.FindStringSubmatch(s); m != nil {
			out = append(out, line{event: m[1], text: m[2], speaker: m[3], said: m[4]})
			continue
		}
		out = append(out, line{text: s})
	}
	return out
}

func body(lines []line) string {
	parts := make([]string, len(lines))
	for i, l := range lines {
		parts[i] = l.text
		if l.said != "" {
			parts[i] = l.String()
		}
	}
	return strings.Join(parts, "\n")
}

// normal makes equal statements equal.
func normal(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?\"'`“”‘’。，；：！？、()（）*-", r)
	}), " ")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func weigh(s string) map[string]float64 { return sentence.Features(s) }

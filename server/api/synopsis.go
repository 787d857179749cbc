package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Synopsis says what a long text is, in a few lines.
type Synopsis struct {
	Kind      string   `json:"kind"` // json, text
	Title     string   `json:"title"`
	Summary   []string `json:"summary"`
	Structure []string `json:"structure"` // the members of a JSON object
	Notable   []string `json:"notable"`   // lines that tell of a fault
}

const (
	mostNotable = 5
	lineLength  = 160 // characters
)

// Summarise looks at a text without a model.
func Summarise(text string) Synopsis {
	s := Synopsis{Kind: "text", Title: "Text", Structure: []string{}, Notable: notable(text)}
	count := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	s.Summary = []string{fmt.Sprintf("%d characters in %d lines", utf8.RuneCountInString(text), count)}
	switch trimmed := strings.TrimSpace(text); {
	case strings.HasPrefix(trimmed, "{"):
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(trimmed), &members) == nil {
			s.Kind, s.Title, s.Structure = "json", "JSON object", slices.Sorted(maps.Keys(members))
			s.Structure = s.Structure[:min(len(s.Structure), 20)]
			s.Summary = append(s.Summary, fmt.Sprintf("%d members", len(members)))
		}
	case strings.HasPrefix(trimmed, "["):
		var items []json.RawMessage
		if json.Unmarshal([]byte(trimmed), &items) == nil {
			s.Kind, s.Title = "json", "JSON list"
			s.Summary = append(s.Summary, fmt.Sprintf("%d items", len(items)))
		}
	}
	for _, line := range s.Notable {
		s.Summary = append(s.Summary, "notable: "+line)
	}
	return s
}

// faults are the words of lines that tell of one.
var faults = []string{"error", "fatal", "panic", "exception"}

// notable are the first lines that tell of a fault.
func notable(text string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		lower := strings.ToLower(line[:min(len(line), 400)])
		if slices.ContainsFunc(faults, func(word string) bool { return strings.Contains(lower, word) }) {
			out = append(out, cut(strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD")), lineLength))
		}
		if len(out) == mostNotable {
			break
		}
	}
	return out
}

package archive

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"github.com/skald-engine/skald/archive/sentence"
)

const (
	toolLines = 400 // lines of a result that are looked at
	toolKeep  = 3   // units of one result
)

// toolUnits quotes what a tool's result tells: errors first. It is always attributed, and never an order to anybody (CMP-08).
func toolUnits(t Turn, index int) []*unit {
	lines := strings.Split(t.Text, "\n")
	if len(lines) > toolLines {
		lines = append(lines[:toolLines/2:toolLines/2], lines[len(lines)-toolLines/2:]...)
	}
	usual := shapes(lines)
	var out []*unit
	for pass := range 2 {
		for _, l := range lines {
			odd := usual[shape(l)] < pastedRun && len(lines) > pastedRun
			l = oneLine(l)
			lower := strings.ToLower(l)
			bad := cueError.In(lower)
			if !bad && !odd && len(lines) > pastedRun {
				continue // one of many that look alike
			}
			if bad != (pass == 0) || len(out) >= toolKeep || sentence.Letters(l) < 4 {
				continue
			}
			f := sentence.Features(sentence.Clip(l, 200))
			if len(f) == 0 {
				continue
			}
			u := &unit{section: SectionTools, text: sentence.Clip(l, 160), speaker: t.speaker(), from: t.Seq, to: t.Seq, at: t.Time,
				weight: weightTool, features: f, turn: index, prefix: t.said()}
			switch {
			case bad:
				u.cue = 1.5
			case odd && telling(f):
				u.cue = 1
			}
			if bad && t.IsError {
				u.cue = 4
			}
			out = append(out, u)
		}
	}
	return out
}

// shapes counts how many lines begin alike.
func shapes(lines []string) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[shape(l)]++
	}
	return n
}

// telling reports an identifier among what a line tells.
func telling(f map[string]float64) bool {
	for _, w := range f {
		if w >= 1 {
			return true
		}
	}
	return false
}

func (t Turn) said() string { return "text read by " + t.tool() + " said: " }

// callUnits tells which files a turn's calls wrote, with the names that they define.
func callUnits(t Turn, index int) []*unit {
	var out []*unit
	for _, c := range t.ToolCalls {
		var args map[string]any
		if json.Unmarshal([]byte(c.Arguments), &args) != nil {
			continue
		}
		file := argument(args, "path", "file_path", "filePath", "file", "filename", "file_name")
		body := argument(args, "content", "newText", "new_string", "text", "replace", "patch")
		if file == "" || body == "" {
			continue
		}
		text := oneLine(sentence.Clip(c.Name, 30) + " " + path.Clean(sentence.Clip(file, 120)))
		if names := defined(body); len(names) > 0 {
			text += " (" + strings.Join(names, ", ") + ")"
		}
		out = append(out, &unit{section: SectionFiles, text: text, speaker: "agent", from: t.Seq, to: t.Seq, at: t.Time,
			weight: weightAgent, cue: 0.5, features: sentence.Features(text), turn: index})
	}
	return out
}

func argument(args map[string]any, names ...string) string {
	for _, n := range names {
		if s, ok := args[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

var definition = regexp.MustCompile(`(?im)\b(?:create\s+(?:unique\s+)?(?:table|index|view|function)(?:\s+concurrently)?(?:\s+if\s+not\s+exists)?|^def|^class|^func|^type|^interface|^export\s+function)\s+([A-Za-z_][\w.]*)`)

// defined lists the first names that a piece of code defines.
func defined(code string) []string {
	var names []string
	for _, m := range definition.FindAllStringSubmatch(code, 3) {
		names = append(names, m[1])
	}
	return names
}

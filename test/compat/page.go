package compat

import (
	"fmt"
	"strings"
)

// result is what was seen of one version. Seen holds one entry for each check; it is empty when the host did not start.
type result struct {
	Version string
	Must    bool
	Start   string
	Seen    []error
}

// render is docs/compatibility.md.
func render(list []result) string {
	var b strings.Builder
	b.WriteString(`# Compatibility

Written by ` + "`make compat`" + `: the real OpenClaw in each version, the plugin and the daemon of this tree, a scripted model. A check is judged by what
the model endpoint received and by what the store holds.

`)
	header, rule := "| OpenClaw |", "|---|"
	for _, c := range checks {
		header += " " + c.Name + " |"
		rule += "---|"
	}
	fmt.Fprintf(&b, "%s\n%s\n", header, rule)
	for _, r := range list {
		fmt.Fprintf(&b, "| %s |%s\n", r.name(), r.cells())
	}
	b.WriteString("\n")
	for _, r := range list {
		b.WriteString(r.faults())
	}
	for _, c := range checks {
		fmt.Fprintf(&b, "- **%s**: %s\n", c.Name, c.What)
	}
	b.WriteString(`
Versions before 2026.8.1 do not call commitTurn: turns come through afterTurn and are not repeated after a fault (doctor says so). A failure on a
version marked "reported" does not fail the build.

Plugin and daemon agree on a protocol version at their first contact. One version apart works; with more, the log and ` + "`skald doctor`" + ` name
both versions and the one to update, and the agent goes on without Skald.
`)
	return b.String()
}

func (r result) name() string {
	if r.Must {
		return r.Version
	}
	return r.Version + " (reported)"
}

func (r result) cells() (row string) {
	for i := range checks {
		switch {
		case i >= len(r.Seen):
			row += " did not start |"
		case r.Seen[i] != nil:
			row += " **no** |"
		default:
			row += " yes |"
		}
	}
	return row
}

func (r result) faults() (text string) {
	if r.Start != "" {
		text += fmt.Sprintf("- %s did not start: %s\n", r.Version, line(r.Start))
	}
	for i, err := range r.Seen {
		if err != nil {
			text += fmt.Sprintf("- %s, %s: %s\n", r.Version, checks[i].Name, line(err.Error()))
		}
	}
	if text != "" {
		text += "\n"
	}
	return text
}

func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

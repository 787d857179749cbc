package memory

import (
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Document renders a memory as the file that its URI names: front matter, then the body.
func Document(m skald.Memory) string {
	var b strings.Builder
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	b.WriteString("---\n")
	field("type", string(m.Type))
	field("created", stamp(m.Created))
	field("updated", stamp(m.Updated))
	field("valid_from", stamp(m.ValidFrom))
	field("valid_to", stamp(m.ValidTo))
	field("superseded_by", string(m.Superseded))
	field("origin", string(m.Origin))
	field("audience", string(m.Audience))
	if m.Explicit {
		field("explicit", "true")
	}
	field("uses", fmt.Sprint(m.Uses))
	field("used", stamp(m.Used))
	field("tags", strings.Join(m.Tags, ", "))
	if len(m.Sources) > 0 {
		b.WriteString("sources:\n")
		for _, s := range m.Sources {
			fmt.Fprintf(&b, "  - %s%s\n", s.Session.TurnsURI(s.From, s.To), gone(s))
		}
	}
	b.WriteString("---\n\n" + m.Text + "\n")
	return b.String()
}

// gone says of a source whose session was deleted that its turns cannot be read.
func gone(s skald.MemorySource) string {
	if s.Deleted.IsZero() {
		return ""
	}
	return " (deleted on " + s.Deleted.UTC().Format(time.DateOnly) + ")"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

package message

import "strings"

// wrappers are the tags of blocks that memory plugins put before a user's text: our own and those of the plugins we replace.
var wrappers = []string{"relevant-memories", "relevant_memories", "openviking-context", "openviking-memories", "skald-context",
	"skald-memories", "skald-recall", "memory-context"}

// brackets are the host's own blocks, which are not words of the user either.
var brackets = [][2]string{{"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"}}

// StripInjected takes injected blocks off the start of a text, as many as there are. A tag that stands later was typed by the user
// and stays; so does a block that is never closed (CAP-03).
func StripInjected(text string) string {
	for {
		rest, ok := stripOne(strings.TrimLeft(text, " \t\r\n"))
		if !ok {
			return text
		}
		text = strings.TrimLeft(rest, " \t\r\n")
	}
}

func stripOne(s string) (string, bool) {
	for _, b := range brackets {
		if body, ok := strings.CutPrefix(s, b[0]); ok {
			if _, rest, ok := strings.Cut(body, b[1]); ok {
				return rest, true
			}
		}
	}
	if !strings.HasPrefix(s, "<") {
		return s, false
	}
	for _, name := range wrappers {
		body, ok := strings.CutPrefix(s, "<"+name)
		if !ok || body == "" || body[0] != '>' && body[0] != ' ' {
			continue
		}
		if _, rest, ok := strings.Cut(body, "</"+name+">"); ok {
			return rest, true
		}
	}
	return s, false
}

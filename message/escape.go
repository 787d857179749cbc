package message

import (
	"regexp"
	"strings"
)

// Escape makes stored text safe inside our blocks: markup that could close or open a block (SEC-05) is written with &lt;, so that it
// is read as text. Ordinary code such as a < b or <div> stays as it is.
func Escape(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	text = brackets3.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "<", "&lt;") })
	return tag.ReplaceAllStringFunc(text, func(s string) string {
		name := strings.ToLower(tagName.FindString(s))
		for _, w := range structural {
			if strings.Contains(name, w) {
				return "&lt;" + s[1:]
			}
		}
		return s
	})
}

var (
	brackets3 = regexp.MustCompile(`<{3,}`)
	tag       = regexp.MustCompile(`<[\s\x{200B}-\x{200D}\x{2060}\x{FEFF}]*[/|]?[\s\x{200B}-\x{200D}\x{2060}\x{FEFF}]*[A-Za-z][\w:.-]*`)
	tagName   = regexp.MustCompile(`[A-Za-z][\w:.-]*`)
)

// structural are the parts of tag names that models, hosts and memory plugins use to mark who speaks and what a block is.
var structural = []string{"memor", "summary", "context", "recall", "system", "assistant", "user", "human", "tool", "function", "invoke",
	"instruction", "prompt", "message", "conversation", "transcript", "openclaw", "openviking", "skald", "viking", "untrusted", "trusted",
	"external", "im_start", "im_end", "endoftext", "antml", "thinking", "reminder", "role"}

package codex

import (
	"regexp"
	"strings"
)

// injectedPrefixes begin what the program puts into the conversation with the user's role.
var injectedPrefixes = []string{"# AGENTS.md instructions for ", "<permissions instructions>", "<skill>", "<skill "}

// element is a text that is one element as a whole. A name with "_" is the program's way (environment_context, user_instructions,
// turn_aborted, …; each version adds some), and nobody types only that.
var element = regexp.MustCompile(`^<([a-z]+(?:_[a-z]+)+)[^<>]*>`)

// request stands before what the user typed when an editor put its state in front.
const request = "## My request for Codex:"

// editors begin that state.
var editors = []string{"# Context from my IDE setup:", "# Files mentioned by the user:", "# Selected text:"}

// split parts a text with the user's role into what was said and what the program put before it (I10).
func split(text string) (said, injected string) {
	s := strings.TrimSpace(text)
	for _, p := range injectedPrefixes {
		if strings.HasPrefix(s, p) {
			return "", text
		}
	}
	if m := element.FindStringSubmatch(s); m != nil && strings.HasSuffix(s, "</"+m[1]+">") {
		return "", text
	}
	for _, e := range editors {
		if !strings.HasPrefix(s, e) {
			continue
		}
		if before, after, ok := strings.Cut(s, request); ok {
			return strings.TrimSpace(after), strings.TrimSpace(before)
		}
	}
	return text, ""
}

// imageLabel tells the marks that stand around an image.
func imageLabel(text string) bool {
	s := strings.TrimSpace(text)
	return s == "<image>" || s == "</image>" || strings.HasPrefix(s, "<image name=") && strings.HasSuffix(s, ">") && !strings.Contains(s, "\n")
}

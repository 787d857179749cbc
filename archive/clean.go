package archive

import (
	"regexp"
	"strings"
)

// Blocks that are never anybody's words: reasoning that a provider left in the text, and context that some plugin injected. Only a
// block that begins a line counts, so that somebody who talks about such tags is still quoted (CMP-09).
var (
	thinkBlock  = regexp.MustCompile(`(?is)<(think|thinking|reasoning)>.*?(</(think|thinking|reasoning)>|$)`)
	recallBlock = regexp.MustCompile(`(?ims)^[ \t]*<(relevant-memories|relevant_memories|recalled-context|skald-[a-z-]+|openviking-[a-z-]+|memory-context)>.*?(</(relevant-memories|relevant_memories|recalled-context|skald-[a-z-]+|openviking-[a-z-]+|memory-context)>|\z)`)
)

// clean removes reasoning and injected blocks.
func clean(text string) string {
	if !strings.Contains(text, "<") {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(recallBlock.ReplaceAllString(thinkBlock.ReplaceAllString(text, ""), ""))
}

// prose splits a text into what is said and the code blocks that it shows.
func prose(text string) (said string, code []string) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "```")
		out.WriteString(before)
		if !found {
			return out.String(), code
		}
		block, after, closed := strings.Cut(rest, "```")
		code = append(code, block)
		if !closed {
			return out.String(), code
		}
		out.WriteString("\n")
		text = after
	}
}

package openviking

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// wish is a line of the conversation, as OpenViking shows it to the model that extracts memories: what a user says of themselves.
var wish = regexp.MustCompile(`(?m)^\[\d+\]\[user\]\[[^\]]*\]: (I .+)$`)

// Script answers what OpenViking 0.5 asks of a model: a program of its memory interface when memories are extracted (a preference for each
// thing that the user says of themselves), a tool call where one is offered, and otherwise a short text.
func Script(c Completion) Reply {
	switch {
	case strings.Contains(c.Text, "sdk.create_preferences("):
		return Reply{Text: program(wish.FindAllStringSubmatch(c.Text, -1))}
	case len(c.Tools) > 0 && strings.HasSuffix(c.Tools[0], "create_working_memory"):
		return Reply{Tool: c.Tools[0], Args: map[string]any{"working_memory": workingMemory, "checkpoint_summaries": []any{}}}
	case len(c.Tools) > 0 && strings.HasSuffix(c.Tools[0], "update_working_memory"):
		return Reply{Tool: c.Tools[0], Args: map[string]any{"sections": map[string]any{}, "checkpoint_summaries": []any{}}}
	case strings.Contains(c.Text, `"values": {`): // a skill's private settings
		return Reply{Text: `{"values": {}}`}
	}
	return Reply{Text: "A short text of the scripted model."}
}

const workingMemory = `# Working Memory

## Session Title
A scripted session

## Current State
Talking.

## Task & Goals
None.

## Key Facts & Decisions
- none

## Files & Context
- none

## Errors & Corrections
- none

## Open Issues
- none
`

func program(wishes [][]string) string {
	var b strings.Builder
	for i, w := range wishes {
		fmt.Fprintf(&b, "sdk.create_preferences(user=\"user\", topic=%q, content=\"\"\"- %s\"\"\")\n", topic(w[1], i), w[1])
	}
	return b.String() + "sdk.commit()\n"
}

// topic names a wish by its last words.
func topic(text string, i int) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return strings.Join(words[max(0, len(words)-2):], "_") + fmt.Sprintf("_%d", i+1)
}

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// model stands for a provider: it sees messages and answers with one. This one follows a script and knows only what it is shown.
type model func(messages []json.RawMessage) json.RawMessage

var (
	room = regexp.MustCompile(`room (\d+)`)
	code = regexp.MustCompile(`door code is (\d+)`)
)

// script looks rooms up with a tool, says what it was told of the door code, and has a word for anything else.
func script(messages []json.RawMessage) json.RawMessage {
	last, err := message.Parse(messages[len(messages)-1])
	if err != nil {
		return said("I did not get that.")
	}
	switch text := last.Text(); {
	case last.SkaldRole() == skald.RoleTool:
		return said("There is " + strings.SplitN(text, ".", 2)[0] + ".")
	case room.MatchString(text):
		return called("look", map[string]string{"room": room.FindStringSubmatch(text)[1]})
	case strings.Contains(text, "what is the door code"):
		for i := len(messages) - 1; i >= 0; i-- {
			if found := code.FindSubmatch(messages[i]); found != nil {
				return said("It is " + string(found[1]) + ".")
			}
		}
		return said("I don't know.")
	}
	return said("All right.")
}

// look is the agent's only tool.
func look(call message.Block) string {
	var args struct{ Room string }
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return "no such room"
	}
	return fmt.Sprintf("a table with %s chairs. ", args.Room) + strings.Repeat("The walls are white and the floor is made of wood. ", 40)
}

func said(text string) json.RawMessage {
	return written(map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}, "stopReason": "stop"})
}

func called(tool string, args any) json.RawMessage {
	calls++
	return written(map[string]any{"role": "assistant", "stopReason": "toolUse", "content": []any{
		map[string]any{"type": "toolCall", "id": fmt.Sprint("call", calls), "name": tool, "arguments": args}}})
}

var calls int

func written(m map[string]any) json.RawMessage {
	m["timestamp"] = time.Now().UnixMilli()
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // only maps, lists and strings
	}
	return raw
}

package main

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/slot"
)

// agent is a small agent loop: a list of messages, a model, a tool, and a slot for the context engine.
type agent struct {
	slot    *slot.Slot
	model   model
	request skald.Request
	budget  int // tokens of a request
	list    []json.RawMessage
	largest int // request so far
}

// turn answers one prompt. The engine chooses what stands before it; what this exchange brings is added as it comes.
func (a *agent) turn(ctx context.Context, prompt string) string {
	before := len(a.list)
	a.list = append(a.list, message.User(prompt, time.Now().UnixMilli()))
	room := a.budget*3/4 - message.Tokens(a.list[before]) // a quarter is for what the tools bring
	view := a.slot.Assemble(ctx, skald.AssembleRequest{Request: a.request, Prompt: prompt, Tail: a.list[:before], TokenBudget: room})
	answer := a.run(view.Messages, before)
	a.slot.AfterTurn(ctx, skald.AfterTurnRequest{Request: a.request, Messages: a.list, PrePromptMessageCount: before, TokenBudget: a.budget})
	return answer
}

// run calls the model until it asks for no tool any more.
func (a *agent) run(view []json.RawMessage, before int) string {
	for {
		request := slices.Concat(view, a.list[before:])
		a.largest = max(a.largest, count(request))
		reply := a.model(request)
		a.list = append(a.list, reply)
		m, err := message.Parse(reply)
		if err != nil || len(m.ToolCalls()) == 0 {
			return m.Text()
		}
		for _, call := range m.ToolCalls() {
			a.list = append(a.list, message.ToolResult(call.ID, call.Name, look(call), time.Now().UnixMilli()))
		}
	}
}

func count(list []json.RawMessage) (n int) {
	for _, m := range list {
		n += message.Tokens(m)
	}
	return n
}

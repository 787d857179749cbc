package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/server/wire"
)

// addTools adds every tool of Specs; a name without a handler is a fault that any test finds.
func (c caller) addTools(s *mcp.Server) {
	for _, spec := range Specs {
		switch spec.Name {
		case "memory_recall":
			add(s, spec, c.recall)
		case "memory_expand":
			add(s, spec, c.expand)
		case "memory_store":
			add(s, spec, c.store)
		case "memory_forget":
			add(s, spec, c.forget)
		case "memory_search":
			add(s, spec, c.search)
		case "memory_ls":
			add(s, spec, c.list)
		case "memory_read":
			add(s, spec, c.read)
		default:
			panic("no handler for the tool " + spec.Name)
		}
	}
}

// add registers a tool that answers with a text for the model and the same as a document.
func add[In, Out any](s *mcp.Server, spec Spec, do func(context.Context, In) (string, Out, error)) {
	closed := false
	tool := &mcp.Tool{
		Name: spec.Name, Title: spec.Title, Description: spec.Text, InputSchema: spec.schema(),
		Annotations: &mcp.ToolAnnotations{Title: spec.Title, ReadOnlyHint: spec.ReadOnly, IdempotentHint: spec.Idempotent,
			DestructiveHint: &spec.Destructive, OpenWorldHint: &closed},
	}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		text, out, err := do(ctx, in)
		if err != nil {
			return nil, out, wire.Classify(err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, out, nil
	})
}

// run calls a tool of the engine and decodes what it says beside its text.
func (c caller) run(ctx context.Context, tool string, args, details any) (string, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	answer, err := c.engine.Tool(ctx, skald.ToolRequest{Request: c.request(), Tool: tool, Args: raw})
	switch {
	case err != nil:
		return "", err
	case answer.IsError:
		return "", refusal(answer)
	case len(answer.Details) > 0:
		err = json.Unmarshal(answer.Details, details)
	}
	return answer.Text, err
}

// refusal is the error that the engine made a text of, for the model.
func refusal(a skald.ToolAnswer) error {
	e := &skald.Error{Kind: skald.KindInvalid, Err: errors.New(a.Text)}
	var details struct{ Kind skald.Kind }
	if json.Unmarshal(a.Details, &details) == nil && details.Kind != "" {
		e.Kind = details.Kind
	}
	return e
}

type recallArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"`
}

// recalled is the document that the engine's text is, with its counts.
type recalled struct {
	Memories []recall.Group `json:"memories"`
	Note     string         `json:"note"`
	More     string         `json:"more,omitempty"`
	Count    int            `json:"count"`
	Tokens   int            `json:"tokens"`
}

func (c caller) recall(ctx context.Context, in recallArgs) (text string, out recalled, err error) {
	if text, err = c.run(ctx, "memory_recall", in, &out); err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	return text, out, err
}

type expandArgs struct {
	URI   string `json:"uri"`
	Query string `json:"query,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

func (c caller) expand(ctx context.Context, in expandArgs) (text string, out skald.Expansion, err error) {
	text, err = c.run(ctx, "memory_expand", in, &out)
	return text, out, err
}

type storeArgs struct {
	Text string `json:"text"`
	Type string `json:"type,omitempty"`
}

type stored struct {
	URI  skald.URI `json:"uri"`
	Type string    `json:"type"`
}

func (c caller) store(ctx context.Context, in storeArgs) (text string, out stored, err error) {
	text, err = c.run(ctx, "memory_store", in, &out)
	return text, out, err
}

type forgetArgs struct {
	URI   string `json:"uri,omitempty"`
	Query string `json:"query,omitempty"`
}

// forgotten is the receipt; without a URI nothing was forgotten, and the text lists what could be meant.
type forgotten struct {
	URI      skald.URI            `json:"uri,omitempty"`
	Memories []skald.URI          `json:"memories,omitempty"`
	Turns    []skald.MemorySource `json:"turns,omitempty"`
	Archives []skald.URI          `json:"archives,omitempty"`
}

func (c caller) forget(ctx context.Context, in forgetArgs) (text string, out forgotten, err error) {
	text, err = c.run(ctx, "memory_forget", in, &out)
	return text, out, err
}

package client

import (
	"encoding/json"
	"fmt"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// absent shadows an embedded field of the same JSON name, so that its value can be written byte for byte instead.
type absent = *struct{}

// encoded encodes a request that holds no verbatim JSON.
func encoded(r any) func() ([]byte, error) {
	return func() ([]byte, error) { return wire.Encode(r) }
}

// withMessages encodes head and adds the host's messages byte for byte.
func withMessages(head any, name string, messages []json.RawMessage) ([]byte, error) {
	raw, err := wire.Array(name, messages)
	if err != nil {
		return nil, err
	}
	return wire.Object(head, wire.Member{Name: name, Value: raw})
}

func commitTurnBody(r skald.CommitTurnRequest) ([]byte, error) {
	return withMessages(struct {
		skald.CommitTurnRequest
		Messages absent `json:"messages,omitempty"`
	}{CommitTurnRequest: r}, "messages", r.Messages)
}

func afterTurnBody(r skald.AfterTurnRequest) ([]byte, error) {
	return withMessages(struct {
		skald.AfterTurnRequest
		Messages absent `json:"messages,omitempty"`
	}{AfterTurnRequest: r}, "messages", r.Messages)
}

func ingestBody(r skald.IngestRequest) ([]byte, error) {
	return withMessages(struct {
		skald.IngestRequest
		Messages absent `json:"messages,omitempty"`
	}{IngestRequest: r}, "messages", r.Messages)
}

func assembleBody(r skald.AssembleRequest) ([]byte, error) {
	return withMessages(struct {
		skald.AssembleRequest
		Tail absent `json:"tail,omitempty"`
	}{AssembleRequest: r}, "tail", r.Tail)
}

func compactBody(r skald.CompactRequest) ([]byte, error) {
	return withMessages(struct {
		skald.CompactRequest
		Tail absent `json:"tail,omitempty"`
	}{CompactRequest: r}, "tail", r.Tail)
}

func toolBody(r skald.ToolRequest) ([]byte, error) {
	return wire.Object(struct {
		skald.ToolRequest
		Args absent `json:"args,omitempty"`
	}{ToolRequest: r}, wire.Member{Name: "args", Value: r.Args})
}

func reconcileBody(r skald.ReconcileRequest) ([]byte, error) {
	entries := make([]json.RawMessage, len(r.Entries))
	for i, e := range r.Entries {
		b, err := wire.Object(struct {
			skald.Entry
			Message absent `json:"message,omitempty"`
		}{Entry: e}, wire.Member{Name: "message", Value: e.Message})
		if err != nil {
			return nil, fmt.Errorf("entries[%d]: %w", i, err)
		}
		entries[i] = b
	}
	raw, err := wire.Array("entries", entries)
	if err != nil {
		return nil, err
	}
	return wire.Object(struct {
		skald.ReconcileRequest
		Entries absent `json:"entries,omitempty"`
		Cursor  absent `json:"cursor,omitempty"`
	}{ReconcileRequest: r}, wire.Member{Name: "entries", Value: raw}, wire.Member{Name: "cursor", Value: r.Cursor})
}

package wire

import (
	"encoding/json"

	skald "github.com/skald-engine/skald"
)

// CommandRequest is the body of POST /engine/v1/command: a line that a person typed into a chat.
type CommandRequest struct {
	skald.Request
	Line  string    `json:"line"`  // what stands after the command's name, as "why" or "forget 2"
	Owner bool      `json:"owner"` // the host knows the sender as the owner
	Host  HostState `json:"host"`
}

// HostState is what only the host's side knows. All of it may be missing.
type HostState struct {
	Name     string `json:"name,omitempty"`     // "OpenClaw 2026.9.6"
	Plugin   string `json:"plugin,omitempty"`   // version of the adapter
	Protocol int    `json:"protocol,omitempty"` // that it speaks
	Slot     string `json:"slot,omitempty"`     // why the engine is not in use; "" when it is
	Missed   int    `json:"missed,omitempty"`   // newest turns of the session that went past the engine
	Reason   string `json:"reason,omitempty"`   // why they did
}

// CommandAnswer is what the chat shows.
type CommandAnswer struct {
	Text    string          `json:"text"` // plain, short lines
	Details json.RawMessage `json:"details,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
}

// Package ingest brings in what other programs kept of earlier conversations. A Source reads, and never writes where it reads; Import
// delivers what it yields through the engine's ordinary write path, so that imported history is stored, found and expanded like any other.
package ingest

import (
	"context"
	"iter"
	"time"

	"github.com/skald-engine/skald"
)

// Source reads the conversations that one program kept. Reading it twice yields the same conversations with the same entry ids: that
// makes an import repeatable.
type Source interface {
	// Name is the program's name as `skald import` takes it.
	Name() string
	// Conversations yields what was found, one after the other. A conversation that cannot be read at all is a Skipped among the
	// items of a conversation that has no messages; an error ends the import.
	Conversations(ctx context.Context) iter.Seq2[Conversation, error]
}

// Conversation is one session of another program, or one file of notes.
type Conversation struct {
	Origin  string // where it stands: a file, or a session key; shown to the user
	Title   string // "" when it has none
	Session skald.SessionAddress
	Started time.Time // zero when unknown
	Size    int64     // bytes to read, for progress; 0 unknown
	// Live says that a host goes on with this very session: its entry ids and session id are the host's own, and the
	// import keeps no cursor for it and commits nothing.
	Live bool
	// Shared says that the session is a host's, and that the program kept a copy of it with ids and times of its own: what the host
	// has delivered itself is recognised by its content.
	Shared bool
	// Items yields the messages in order. An error ends this conversation, and what came before stays.
	Items iter.Seq2[Item, error]
}

// Item is one message of a conversation, or what stands in its place.
type Item struct {
	// Entry holds the message in the host's format (OpenClaw's AgentMessage: role user, assistant, toolResult, …; timestamp in
	// milliseconds) and a stable id. Its Message is nil when the item was skipped.
	Entry skald.Entry
	// Skipped says why something is not imported, in words for the user; "" when it is.
	Skipped string
	Where   string // file and line, or id, of what was skipped
}

// OpenOptions say where a source looks and whose conversations they become. Every source package exports
//
//	func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error)
//
// which reads no more than it must to say that something is there. Without paths a source looks in the places where its program keeps
// its data; where nothing is, it answers with an error of kind NotFound that names the places.
type OpenOptions struct {
	Agent string // the agent that conversations of a program without agents go to; "" is "main"
	User  string // the user they belong to; "" is "default"
	// Session takes every message of the source into this session; "" keeps a session for each conversation.
	Session string
	// State and Config are OpenClaw's state folder and configuration file; "" asks the environment, then ~/.openclaw.
	State, Config string
}

// Package openviking keeps a daemon's sessions on an OpenViking server. It wraps the local store: every transaction runs there, so that the
// reply path reads and writes the local file only and a turn is durable before it is acknowledged. What the server lacks is noticed in the
// same transaction and delivered in the background, in order: the local file is the outbox, and an index that can be rebuilt from the server.
//
// docs/openviking-store.md says what lies where on the server, and what was measured.
//
//	store.go    the store; tx.go notices what the server lacks
//	state.go    how far each session is delivered; journal.go changes to what was delivered, and memories
//	run.go      the background: due sessions, pauses after failures; probe.go what the server can do
//	deliver.go  one session: turns, archives; readback.go what the server has, after an unclear answer
//	message.go  a turn as OpenViking's message; carrier.go the turn itself, byte for byte, within that message
//	collect.go  archives that the server works on; extract.go the memories that it made of one
//	rebuild.go  the way back: sessions of the server into an empty local file; restore.go writes one; changes.go reads the journal
package openviking

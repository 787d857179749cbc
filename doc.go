// Package skald holds the nouns and contracts of the Skald context engine: identities and URIs, turns, sessions,
// archives, memories, the store and the engine lifecycle. Everything else implements them. It imports the standard
// library only.
//
// Read engine.go for what a host calls, store.go for what a store promises, and the other files for the nouns they use.
package skald

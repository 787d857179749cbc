package record

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
)

// DefaultAgent is the agent of conversations of a program without agents.
const DefaultAgent = "main"

// Address is the session that a conversation goes to: id as the program wrote it, a UUID where it has one.
func Address(o ingest.OpenOptions, id string) skald.SessionAddress {
	if o.Session != "" {
		id = o.Session
	}
	return skald.SessionAddress{SessionID: id, AgentID: agent(o)}
}

// SubagentAddress is the session of a sub-agent: what its parent told it was not said by the user.
func SubagentAddress(o ingest.OpenOptions, id string) skald.SessionAddress {
	a := Address(o, id)
	if o.Session == "" {
		a.SessionKey = "agent:" + a.AgentID + ":subagent:" + id
	}
	return a
}

func agent(o ingest.OpenOptions) string {
	if o.Agent == "" {
		return DefaultAgent
	}
	return o.Agent
}

// Derived is a stable id for something that has none of its own.
func Derived(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

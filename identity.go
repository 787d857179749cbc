package skald

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// Identity is who calls: the tenant (account, user) and the agent on whose behalf. It is resolved once, at the edge.
type Identity struct {
	Account string `json:"account"`
	User    string `json:"user"`
	Agent   string `json:"agent"`
}

// DefaultIdentity is used where nothing is configured (001-015: the agent is OpenClaw's default "main").
var DefaultIdentity = Identity{Account: "default", User: "default", Agent: "main"}

// Policy says how the two namespaces are shared (001-019 to 001-021). Both default to false: a user's agents share the
// user's memories, and agent memories are shared by that agent's users. It is a privacy boundary.
type Policy struct {
	IsolateUserScopeByAgent bool `json:"isolateUserScopeByAgent"`
	IsolateAgentScopeByUser bool `json:"isolateAgentScopeByUser"`
}

// ScopeKind names a namespace root.
type ScopeKind string

// The namespace roots.
const (
	ScopeUser      ScopeKind = "user"
	ScopeAgent     ScopeKind = "agent"
	ScopeResources ScopeKind = "resources"
	ScopeSkills    ScopeKind = "agent/skills" // shared by all of an account
)

// Scope is the owner of a stored thing. It leads every key and every query of a store (I9).
type Scope struct {
	Account string
	Kind    ScopeKind
	User    string // always set for ScopeUser; for ScopeAgent only when isolated by user
	Agent   string // always set for ScopeAgent; for ScopeUser only when isolated by agent
}

// Key is the canonical text of the scope: account first, then the URI path of the scope's root.
func (s Scope) Key() string { return s.Account + "|" + s.path() }

func (s Scope) path() string {
	switch s.Kind {
	case ScopeUser:
		if s.Agent != "" {
			return "user/" + s.User + "/agent/" + s.Agent
		}
		return "user/" + s.User
	case ScopeAgent:
		if s.User != "" {
			return "agent/" + s.Agent + "/user/" + s.User
		}
		return "agent/" + s.Agent
	}
	return string(s.Kind)
}

// UserScope is where the identity's sessions and user memories live.
func (p Policy) UserScope(id Identity) Scope {
	s := Scope{Account: id.Account, Kind: ScopeUser, User: id.User}
	if p.IsolateUserScopeByAgent {
		s.Agent = id.Agent
	}
	return s
}

// AgentScope is where the identity's agent memories live.
func (p Policy) AgentScope(id Identity) Scope {
	s := Scope{Account: id.Account, Kind: ScopeAgent, Agent: id.Agent}
	if p.IsolateAgentScopeByUser {
		s.User = id.User
	}
	return s
}

// Readable lists every scope that the identity may read, the user's first.
func (p Policy) Readable(id Identity) []Scope {
	return []Scope{p.UserScope(id), p.AgentScope(id), {Account: id.Account, Kind: ScopeResources}, {Account: id.Account, Kind: ScopeSkills}}
}

// SessionRef names a session within its scope.
type SessionRef struct {
	Scope Scope
	ID    string
}

// URI is the canonical URI of the session's folder.
func (r SessionRef) URI() URI { return URI("viking://" + r.Scope.path() + "/sessions/" + r.ID) }

var (
	uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	safePattern = regexp.MustCompile(`^[A-Za-z0-9_@.-]{1,128}$`)
)

// SafeID reports whether an id can stand in a URI path as it is: letters, digits, "_@.-", at most 128 characters, not dots
// alone.
func SafeID(id string) bool { return safePattern.MatchString(id) && strings.Trim(id, ".") != "" }

// SessionID maps the host's ids to the stored session's id (001-010 to 001-012): a UUID sessionID in lower case; else the
// SHA-256 of sessionKey; else the SHA-256 of "openclaw-session:" + sessionID when that has unsafe characters; else as it is.
// The result is empty when both are.
func SessionID(sessionID, sessionKey string) string {
	switch {
	case uuidPattern.MatchString(sessionID):
		return strings.ToLower(sessionID)
	case sessionKey != "":
		return hash(sessionKey)
	case sessionID == "":
		return ""
	case !SafeID(sessionID):
		return hash("openclaw-session:" + sessionID)
	}
	return sessionID
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

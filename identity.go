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

	// What follows is settled by whoever lets the caller in, never by a body.
	Rank   Rank    `json:"-"` // "" is RankUser
	Peer   string  `json:"-"` // the peer on whose behalf the user acts: of the user's peers this one alone is visible; "" all
	Policy *Policy `json:"-"` // how the account shares its namespaces; nil: as the daemon's configuration says
}

// Rank is what an identity may do beyond its own data; OpenViking calls it the role.
type Rank string

// The ranks. An admin manages the users of the own account, root all accounts.
const (
	RankUser  Rank = "user"
	RankAdmin Rank = "admin"
	RankRoot  Rank = "root"
)

// Sees reports whether a canonical URI is not another peer's than the one on whose behalf the identity acts.
func (id Identity) Sees(uri URI) bool {
	peer, _, below := id.peerOf(uri)
	return id.Peer == "" || !below || peer == id.Peer
}

// MayChange reports whether the identity may remove or move a canonical URI with all below it: not what holds other peers' folders while
// it acts on behalf of one.
func (id Identity) MayChange(uri URI) bool {
	_, holds, _ := id.peerOf(uri)
	return id.Sees(uri) && (id.Peer == "" || !holds)
}

// peerOf is the peer below whose folder a URI of the user's own space lies; holds says that it lies above those folders.
func (id Identity) peerOf(uri URI) (peer string, holds, below bool) {
	root := "user/" + id.User
	parts := strings.Split(strings.TrimPrefix(string(uri), string(Root)), "/")
	if len(parts) < 2 || parts[0]+"/"+parts[1] != root {
		return "", uri == Root || uri == "viking://user", false
	}
	rest := parts[2:]
	if len(rest) >= 2 && rest[0] == "agent" {
		rest = rest[2:]
	}
	switch {
	case len(rest) == 0 || len(rest) == 1 && (rest[0] == "peers" || rest[0] == "agent"):
		return "", true, false
	case rest[0] == "peers":
		return rest[1], false, true
	}
	return "", false, false
}

// DefaultIdentity is used where nothing is configured (001-015: the agent is OpenClaw's default "main").
var DefaultIdentity = Identity{Account: "default", User: "default", Agent: "main"}

// Policy says how the two namespaces are shared (001-019 to 001-021). Both default to false: a user's agents share the
// user's memories, and agent memories are shared by that agent's users. It is a privacy boundary. Where an identity brings its account's
// policy along, that one holds, whatever the daemon's configuration or a host's request says.
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

// of is the policy for an identity: its account's own, if an admin has set one, else p.
func (p Policy) of(id Identity) Policy {
	if id.Policy != nil {
		return *id.Policy
	}
	return p
}

// UserScope is where the identity's sessions and user memories live.
func (p Policy) UserScope(id Identity) Scope {
	p = p.of(id)
	s := Scope{Account: id.Account, Kind: ScopeUser, User: id.User}
	if p.IsolateUserScopeByAgent {
		s.Agent = id.Agent
	}
	return s
}

// AgentScope is where the identity's agent memories live.
func (p Policy) AgentScope(id Identity) Scope {
	p = p.of(id)
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

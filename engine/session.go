package engine

import (
	"strings"
	"time"
	"unicode"

	"github.com/skald-engine/skald"
)

// ref maps the host's address to the stored session (001-010 to 001-015). KindInvalid when the host named none.
func (e *Engine) ref(r skald.Request, set settings) (skald.SessionRef, error) {
	id := skald.SessionID(r.Session.SessionID, r.Session.SessionKey)
	if id == "" {
		return skald.SessionRef{}, skald.Invalid("engine", "session.session_id", "a session id or key is needed")
	}
	return skald.SessionRef{Scope: set.policy.UserScope(identity(r)), ID: id}, nil
}

// identity completes the caller's identity with the session's agent (001-013).
func identity(r skald.Request) skald.Identity {
	id := r.Identity
	if id.Account == "" {
		id.Account = skald.DefaultIdentity.Account
	}
	if id.User == "" {
		id.User = skald.DefaultIdentity.User
	}
	if agent := safeAgent(r.Session.AgentID); agent != "" {
		id.Agent = agent
	} else if agent := safeAgent(agentOfKey(r.Session.SessionKey)); agent != "" {
		id.Agent = agent
	}
	if id.Agent == "" {
		id.Agent = skald.DefaultIdentity.Agent
	}
	return id
}

func safeAgent(agent string) string {
	if agent == "" || skald.SafeID(agent) {
		return agent
	}
	return skald.SessionID("", agent) // a stable hash: no path tricks in a scope
}

// agentOfKey reads the agent out of a host key of the form agent:<id>:….
func agentOfKey(key string) string {
	if rest, ok := strings.CutPrefix(key, "agent:"); ok {
		agent, _, _ := strings.Cut(rest, ":")
		return agent
	}
	return ""
}

// open reads the session or makes the state of a new one; nothing is written yet.
func open(tx skald.Tx, ref skald.SessionRef, r skald.Request, now time.Time) (skald.Session, error) {
	s, err := tx.Session(ref)
	if skald.KindOf(err) == skald.KindNotFound {
		return announced(tx, newSession(ref, r, now))
	}
	if s.Key == "" && r.Session.SessionKey != "" { // first met by its id alone: the key says where it takes place (I9)
		s.Key = r.Session.SessionKey
		if s.Audience == skald.AudienceDirect {
			s.Audience = audience(s.Key)
		}
	}
	return s, err
}

func newSession(ref skald.SessionRef, r skald.Request, now time.Time) skald.Session {
	return skald.Session{
		Ref: ref, Agent: identity(r).Agent, Key: r.Session.SessionKey, HostID: r.Session.SessionID,
		Audience: audience(r.Session.SessionKey), Created: now, Updated: now,
		Epoch: 1, EpochFrom: 1, OpenFrom: 1, Lifecycle: r.Session.Lifecycle,
	}
}

// announced completes a sub-agent's new session with what was prepared for it. The host announces a child by its key alone, so that
// this waits under the key's id; the child itself comes with an id of its own.
func announced(tx skald.Tx, s skald.Session) (skald.Session, error) {
	place := skald.SessionRef{Scope: s.Ref.Scope, ID: skald.SessionID("", s.Key)}
	if s.Audience != skald.AudienceSubagent || s.Key == "" || place == s.Ref {
		return s, nil
	}
	child, err := tx.Session(place)
	if skald.KindOf(err) == skald.KindNotFound {
		return s, nil
	}
	s.Parent, s.Head, s.HeadSet = child.Parent, child.Head, child.HeadSet
	return s, err
}

// named is the session that goes by a key: the newest with turns, when the host gave no id and none is stored under the key's own.
func named(tx skald.Tx, ref skald.SessionRef, id, key string) (skald.SessionRef, error) {
	if id != "" || key == "" {
		return ref, nil
	}
	list, err := tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{ref.Scope}, Key: key})
	for _, s := range list {
		if s.LastSeq > 0 {
			return s.Ref, err
		}
	}
	return ref, err
}

// audience reads out of the host's session key where the session takes place (I9).
func audience(key string) skald.Audience {
	parts := strings.Split(key, ":")
	for i, p := range parts {
		switch p {
		case "subagent":
			return skald.AudienceSubagent
		case "cron":
			return skald.AudienceCron
		case "group", "channel", "room", "guild":
			return skald.AudienceGroup + ":" + skald.Audience(strings.Join(parts[max(0, i-1):], ":"))
		}
	}
	return skald.AudienceDirect
}

// internalKey reports a session in which the host talks to itself (memory flush): stored, never counted or recalled.
func internalKey(key string) bool { return strings.Contains(key, "internal-session-effects:") }

// isGroup reports whether several people may read the session.
func isGroup(a skald.Audience) bool { return strings.HasPrefix(string(a), string(skald.AudienceGroup)) }

// clean makes a name that the host gave fit to stand before a text: printable, at most 64 characters.
func clean(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(name, "")))
	return strings.TrimSpace(string(runes[:min(len(runes), 64)]))
}

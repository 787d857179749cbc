package skald

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// URI is a canonical viking:// URI: parsed once at the edge by ParseURI, without alias, "." or "..", or trailing slash.
type URI string

// Root is the URI that lists the scopes.
const Root URI = "viking://"

// ParseURI turns any accepted spelling into the canonical URI as the identity sees it. Accepted are the canonical form, the
// aliases viking://~, viking://~/<session>/<turns> as Short writes it, viking://session/<id>, document 001's viking://user/memories and viking://agent/memories (and sessions,
// skills, resources, peers, privacy below them), and {calendar:…} variables. viking://user and viking://agent are the folders above
// the scopes that the identity may see. It fails with KindInvalid on a malformed URI and with KindPermission on path tricks, on
// another tenant's scope, and on another peer's folder when the identity acts on behalf of one.
func ParseURI(raw string, id Identity, policy Policy) (URI, error) {
	uri, err := parseURI(raw, id, policy.of(id))
	if err == nil && !id.Sees(uri) {
		return "", &Error{Op: "uri.parse", URI: clip(raw), Field: "uri", Kind: KindPermission, Err: fmt.Errorf("another peer's folder")}
	}
	return uri, err
}

func parseURI(raw string, id Identity, policy Policy) (URI, error) {
	const op = "uri.parse"
	s, err := expandCalendar(strings.TrimSpace(raw), time.Now())
	if err != nil {
		return "", err
	}
	rest, ok := strings.CutPrefix(s, string(Root))
	if !ok {
		return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindInvalid, Err: fmt.Errorf("a URI starts with viking://")}
	}
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	rest = strings.TrimRight(rest, "/")
	if rest == "" {
		return Root, nil
	}
	parts := strings.Split(rest, "/")
	for _, p := range parts {
		if p == "" {
			return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindInvalid, Err: fmt.Errorf("empty path segment")}
		}
		if p == "." || p == ".." || strings.ContainsAny(p, "\\\x00") || drive(p) {
			return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindPermission, Err: fmt.Errorf("path segment %q is not allowed", p)}
		}
	}
	userRoot, agentRoot := policy.UserScope(id).path(), policy.AgentScope(id).path()
	home := func(root string, tail []string) URI {
		return URI(string(Root) + strings.Join(append([]string{root}, tail...), "/"))
	}
	reserved := func(p string) bool {
		return p == "memories" || p == "sessions" || p == "skills" || p == "resources" || p == "peers" || p == "privacy"
	}
	switch parts[0] {
	case "~":
		if len(parts) == 3 && abbreviated(parts[1]) && turnRun.MatchString(parts[2]) {
			parts = []string{"~", "sessions", parts[1], "turns", parts[2]}
		}
		return home(userRoot, parts[1:]), nil
	case "session":
		return home(userRoot, append([]string{"sessions"}, parts[1:]...)), nil
	case "resources":
		return URI(string(Root) + rest), nil
	case "user":
		switch {
		case len(parts) == 1:
			return Root + "user", nil
		case reserved(parts[1]) && parts[1] != id.User:
			return home(userRoot, parts[1:]), nil
		case parts[1] != id.User:
			return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindPermission, Err: fmt.Errorf("another user's space")}
		case policy.IsolateUserScopeByAgent && (len(parts) < 4 || parts[2] != "agent"):
			return home(userRoot, parts[2:]), nil
		case policy.IsolateUserScopeByAgent && parts[3] != id.Agent:
			return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindPermission, Err: fmt.Errorf("another agent's space")}
		}
		return URI(string(Root) + rest), nil
	case "agent":
		switch {
		case len(parts) == 1:
			return Root + "agent", nil
		case parts[1] == "skills":
			return URI(string(Root) + rest), nil
		case reserved(parts[1]) && parts[1] != id.Agent:
			return home(agentRoot, parts[1:]), nil
		case parts[1] != id.Agent:
			return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindPermission, Err: fmt.Errorf("another agent's space")}
		case policy.IsolateAgentScopeByUser && (len(parts) < 4 || parts[2] != "user"):
			return home(agentRoot, parts[2:]), nil
		case policy.IsolateAgentScopeByUser && parts[3] != id.User:
			return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindPermission, Err: fmt.Errorf("another user's space")}
		}
		return URI(string(Root) + rest), nil
	}
	return "", &Error{Op: op, URI: clip(raw), Field: "uri", Kind: KindInvalid,
		Err: fmt.Errorf("Invalid scope '%s'. Must be one of: agent, resources, session, user", clip(parts[0]))}
}

// drive reports a segment that Windows would take for a drive.
func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

func clip(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// RootURI is the URI of a scope's root folder.
func (s Scope) RootURI() URI { return URI(string(Root) + s.path()) }

// Join appends path segments.
func (u URI) Join(segments ...string) URI {
	return URI(strings.TrimRight(string(u), "/") + "/" + strings.Join(segments, "/"))
}

// Name is the last path segment.
func (u URI) Name() string { return string(u)[strings.LastIndexByte(string(u), '/')+1:] }

// ShortSession is how many characters of a session's id stand in URIs that are written for a model; where such a URI is read, the session
// of its scope that begins so is meant.
const ShortSession = 10

// Short writes a URI for a model, in few tokens: the user's root as "~", of an id that was drawn or hashed the first ShortSession characters,
// and turns without the folders around them, as in viking://~/6b0829b9f7/1-5. ParseURI reads it.
func (u URI) Short(s Scope) string {
	rest, ok := strings.CutPrefix(string(u), string(s.RootURI())+"/")
	if !ok || s.Kind != ScopeUser {
		rest = strings.TrimPrefix(string(u), string(Root))
	} else {
		rest = "~/" + rest
	}
	head, tail, ok := strings.Cut(rest, "sessions/")
	id, below, more := strings.Cut(tail, "/")
	if !ok || !more || len(id) < drawnID || !abbreviated(id) {
		return string(Root) + rest
	}
	id = id[:ShortSession]
	if run, ok := strings.CutPrefix(below, "turns/"); ok && head == "~/" && turnRun.MatchString(run) {
		return string(Root) + head + id + "/" + run
	}
	return string(Root) + head + "sessions/" + id + "/" + below
}

// drawnID is the least length of a session's id that was drawn or hashed: the beginnings of such ids differ.
const drawnID = 32

// turnRun is the name of a run of turns.
var turnRun = regexp.MustCompile(`^[1-9][0-9]*(-[1-9][0-9]*)?$`)

// abbreviated reports a session's id that may be shortened, or its beginning.
func abbreviated(id string) bool {
	return len(id) >= ShortSession && strings.Trim(id, "0123456789abcdef-") == ""
}

// Target is what a canonical session or memory URI points at.
type Target struct {
	Scope   Scope
	Session string // session id; empty for a memory
	Archive int    // 1 and up; 0 when the URI is not below an archive
	File    string // "overview", "abstract", "memory_diff", or ""
	From    int64  // first sequence of turns/<from>[-<to>]; 0 when the URI names no turns
	To      int64
	Memory  bool // the URI lies under memories/
}

// TurnsURI names a run of a session's turns: …/sessions/<id>/turns/<from>[-<to>].
func (r SessionRef) TurnsURI(from, to int64) URI {
	name := strconv.FormatInt(from, 10)
	if to > from {
		name += "-" + strconv.FormatInt(to, 10)
	}
	return r.URI().Join("turns", name)
}

// ArchiveURI names an archive: …/sessions/<id>/history/archive_001.
func (r SessionRef) ArchiveURI(index int) URI {
	return r.URI().Join("history", ArchiveID(index))
}

// ArchiveID is the id of an archive as shown to models and clients, for example "archive_001".
func ArchiveID(index int) string { return fmt.Sprintf("archive_%03d", index) }

// ParseArchiveID is the inverse of ArchiveID; it accepts the bare number too.
func ParseArchiveID(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "archive_"))
	return n, err == nil && n > 0
}

// Resolve says what a canonical URI of account points at. KindInvalid when it is neither below a session nor below memories.
func (u URI) Resolve(account string) (Target, error) {
	bad := func() (Target, error) {
		return Target{}, &Error{Op: "uri.resolve", URI: string(u), Field: "uri", Kind: KindInvalid,
			Err: fmt.Errorf("names neither a session, an archive, turns nor a memory")}
	}
	parts := strings.Split(strings.TrimPrefix(string(u), string(Root)), "/")
	t := Target{Scope: Scope{Account: account}}
	rest := parts
	switch {
	case len(parts) >= 2 && parts[0] == "user":
		t.Scope.Kind, t.Scope.User, rest = ScopeUser, parts[1], parts[2:]
		if len(rest) >= 2 && rest[0] == "agent" {
			t.Scope.Agent, rest = rest[1], rest[2:]
		}
	case len(parts) >= 2 && parts[0] == "agent":
		t.Scope.Kind, t.Scope.Agent, rest = ScopeAgent, parts[1], parts[2:]
		if len(rest) >= 2 && rest[0] == "user" {
			t.Scope.User, rest = rest[1], rest[2:]
		}
	default:
		return bad()
	}
	switch {
	case len(rest) >= 1 && rest[0] == "memories":
		t.Memory = true
		return t, nil
	case len(rest) < 2 || rest[0] != "sessions":
		return bad()
	}
	t.Session, rest = rest[1], rest[2:]
	switch {
	case len(rest) == 0:
		return t, nil
	case rest[0] == "turns" && len(rest) == 2:
		from, to, ranged := strings.Cut(rest[1], "-")
		f, err := strconv.ParseInt(from, 10, 64)
		if err != nil || f < 1 {
			return bad()
		}
		t.From, t.To = f, f
		if ranged {
			n, err := strconv.ParseInt(to, 10, 64)
			if err != nil || n < f {
				return bad()
			}
			t.To = n
		}
		return t, nil
	case rest[0] == "history" && len(rest) >= 2 && len(rest) <= 3:
		n, ok := ParseArchiveID(rest[1])
		if !ok {
			return bad()
		}
		t.Archive = n
		if len(rest) == 3 {
			t.File = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(rest[2], ".md"), ".json"), ".")
		}
		return t, nil
	}
	return bad()
}

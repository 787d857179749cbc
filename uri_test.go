package skald

import (
	"strings"
	"testing"
	"time"
)

// TestParseURI is section 2 of OpenViking's contract, with the older spellings that Skald accepts beside it.
func TestParseURI(t *testing.T) {
	t.Parallel()
	ann := Identity{Account: "acme", User: "ann", Agent: "main"}
	asPeer := ann
	asPeer.Peer = "p1"
	byAgent := ann
	byAgent.Policy = &Policy{IsolateUserScopeByAgent: true, IsolateAgentScopeByUser: true}
	for _, c := range []struct {
		id        Identity
		raw, want string // want "!kind" is an error of that kind
	}{
		{ann, "viking://", "viking://"},
		{ann, " viking://resources/docs/ ", "viking://resources/docs"},
		{ann, "viking://user", "viking://user"},
		{ann, "viking://user/", "viking://user"},
		{ann, "viking://user/ann/notes/persona.md", "viking://user/ann/notes/persona.md"},
		{ann, "viking://~", "viking://user/ann"},
		{ann, "viking://~/memories", "viking://user/ann/memories"},
		{ann, "viking://~/6b0829b9f7/1-5", "viking://user/ann/sessions/6b0829b9f7/turns/1-5"},
		{ann, "viking://~/6b0829b9f7/0", "viking://user/ann/6b0829b9f7/0"},
		{ann, "viking://~/notes/1", "viking://user/ann/notes/1"},
		{ann, "viking://resources/~", "viking://resources/~"},
		{ann, "viking://session", "viking://user/ann/sessions"},
		{ann, "viking://session/s1/history", "viking://user/ann/sessions/s1/history"},
		{ann, "viking://user/memories", "viking://user/ann/memories"},
		{ann, "viking://user/privacy", "viking://user/ann/privacy"},
		{ann, "viking://user/peers/p1", "viking://user/ann/peers/p1"},
		{ann, "viking://agent", "viking://agent"},
		{ann, "viking://agent/skills/x", "viking://agent/skills/x"},
		{ann, "viking://agent/memories", "viking://agent/main/memories"},
		{ann, "viking://agent/main/memories/cases", "viking://agent/main/memories/cases"},
		{ann, "viking://user/ann/peers/p2/memories", "viking://user/ann/peers/p2/memories"},
		{asPeer, "viking://user/ann/peers/p1/memories", "viking://user/ann/peers/p1/memories"},
		{asPeer, "viking://~/peers", "viking://user/ann/peers"},
		{asPeer, "viking://~/memories/profile.md", "viking://user/ann/memories/profile.md"},
		{asPeer, "viking://user/ann/peers/p2", "!permission"},
		{asPeer, "viking://~/peers/p2/memories", "!permission"},
		{asPeer, "viking://user/peers/p11", "!permission"},
		{byAgent, "viking://~/memories", "viking://user/ann/agent/main/memories"},
		{byAgent, "viking://user/ann/agent/other/memories", "!permission"},
		{byAgent, "viking://agent/memories", "viking://agent/main/user/ann/memories"},
		{byAgent, "viking://agent/main/user/bob", "!permission"},
		{ann, "viking://user/bob", "!permission"},
		{ann, "viking://user/bob/memories", "!permission"},
		{ann, "viking://user/Ann", "!permission"},
		{ann, "viking://agent/other", "!permission"},
		{ann, "viking://user/ann/../bob", "!permission"},
		{ann, "viking://user/../bob", "!permission"},
		{ann, "viking://user/%2e%2e/bob", "!permission"},
		{ann, "viking://resources/./x", "!permission"},
		{ann, `viking://resources/a\b`, "!permission"},
		{ann, "viking://resources/a%5Cb", "!permission"},
		{ann, "viking://resources/C:", "!permission"},
		{ann, "viking://resources/c:x/y", "!permission"},
		{ann, "viking://resources/a\x00b", "!permission"},
		{ann, "viking://resources/12:30 notes.md", "viking://resources/12:30 notes.md"},
		{ann, "viking://resources//x", "!invalid"},
		{ann, "viking://temp/x", "!invalid"},
		{ann, "viking://queue", "!invalid"},
		{ann, "viking://upload/x", "!invalid"},
		{ann, "viking://nope", "!invalid"},
		{ann, "resources/x", "!invalid"},
		{ann, "", "!invalid"},
		{ann, "viking://resources/{calendar:nope}", "!invalid"},
		{ann, "viking://resources/{x}", "viking://resources/{x}"},
	} {
		got, err := ParseURI(c.raw, c.id, Policy{})
		if kind, wrong := strings.CutPrefix(c.want, "!"); wrong {
			if string(KindOf(err)) != kind {
				t.Errorf("%q: %q %v, want %s", c.raw, got, err, kind)
			}
		} else if err != nil || string(got) != c.want {
			t.Errorf("%q: %q %v, want %q", c.raw, got, err, c.want)
		}
	}
}

func TestCalendarVariables(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 23, 30, 0, 0, time.FixedZone("", -3600)) // the day after, in UTC
	for name, want := range map[string]string{
		"today": "2026/12/01", "yesterday": "2026/11/30", "tomorrow": "2026/12/02", "year": "2026", "month": "12", "day": "01",
		"ym": "2026/12", "quarter": "Q4", "yq": "2026/Q4", "week": "49", "yw": "2026/w49",
	} {
		got, err := expandCalendar("viking://resources/{calendar:"+name+"}/a", now)
		if err != nil || got != "viking://resources/"+want+"/a" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// TestPeersAreApart: on behalf of one peer, the others' folders are neither seen nor removed with what holds them.
func TestPeersAreApart(t *testing.T) {
	t.Parallel()
	id := Identity{Account: "acme", User: "ann", Agent: "main", Peer: "p1"}
	for uri, want := range map[URI][2]bool{ // seen, may be changed
		"viking://":                                   {true, false},
		"viking://user":                               {true, false},
		"viking://user/ann":                           {true, false},
		"viking://user/ann/peers":                     {true, false},
		"viking://user/ann/peers/p1":                  {true, true},
		"viking://user/ann/peers/p2":                  {false, false},
		"viking://user/ann/agent/main/peers/p2/a":     {false, false},
		"viking://user/ann/agent/main":                {true, false},
		"viking://user/ann/memories/peers/p2":         {true, true},
		"viking://resources/user/ann/peers/p2/a":      {true, true},
		"viking://user/ann/peers/p1/memories/x/y/z.m": {true, true},
	} {
		if got := [2]bool{id.Sees(uri), id.MayChange(uri)}; got != want {
			t.Errorf("%s: seen, changed %v, want %v", uri, got, want)
		}
		all := id
		if all.Peer = ""; !all.Sees(uri) || !all.MayChange(uri) {
			t.Errorf("%s is kept from the user", uri)
		}
	}
}

// TestAccountPolicyHolds: an account's own policy wins over the daemon's, either way.
func TestAccountPolicyHolds(t *testing.T) {
	t.Parallel()
	id := Identity{Account: "acme", User: "ann", Agent: "main"}
	apart := Policy{IsolateUserScopeByAgent: true, IsolateAgentScopeByUser: true}
	id.Policy = &apart
	if (Policy{}).UserScope(id).Agent != "main" || (Policy{}).AgentScope(id).User != "ann" || (Policy{}).Readable(id)[0].Agent != "main" {
		t.Error("the account's isolation is lost")
	}
	id.Policy = &Policy{}
	if apart.UserScope(id).Agent != "" || apart.AgentScope(id).User != "" {
		t.Error("the daemon's isolation wins over the account's")
	}
}

// What Short writes names the same, with the beginning of an id that was drawn or hashed.
func TestShort(t *testing.T) {
	t.Parallel()
	ann := Identity{Account: "acme", User: "ann", Agent: "main"}
	user, agent := Policy{}.UserScope(ann), Policy{}.AgentScope(ann)
	const id = "6b0829b9-f793-4e8b-86b4-dae6e2cf71a5"
	begin := id[:ShortSession]
	for _, c := range []struct {
		scope           Scope
		whole           URI
		want, canonical string
	}{
		{user, SessionRef{user, id}.TurnsURI(1, 5), "viking://~/" + begin + "/1-5", "viking://user/ann/sessions/" + begin + "/turns/1-5"},
		{user, SessionRef{user, id}.ArchiveURI(2), "viking://~/sessions/" + begin + "/history/archive_002", "viking://user/ann/sessions/" + begin + "/history/archive_002"},
		{user, SessionRef{user, "talk"}.TurnsURI(3, 3), "viking://~/sessions/talk/turns/3", "viking://user/ann/sessions/talk/turns/3"},
		{user, "viking://user/ann/memories/profile.md", "viking://~/memories/profile.md", "viking://user/ann/memories/profile.md"},
		{agent, SessionRef{agent, id}.TurnsURI(3, 3), "viking://agent/main/sessions/" + begin + "/turns/3", "viking://agent/main/sessions/" + begin + "/turns/3"},
	} {
		got := c.whole.Short(c.scope)
		canonical, err := ParseURI(string(got), ann, Policy{})
		if string(got) != c.want || err != nil || string(canonical) != c.canonical {
			t.Errorf("%s is written %s and read %s, %v; want %s", c.whole, got, canonical, err, c.want)
		}
	}
}

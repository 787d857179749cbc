package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// A sub-agent's session is stored, linked to the parent's exchange that spawned it, and both can be expanded (design, "Sub-agents").
func TestSubagent(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 2*time.Minute)
	key := "agent:main:parent"
	turn(t, ctx, w, key, "one: the anchor word is quartz")
	turn(t, ctx, w, key, `CALL sessions_spawn {"task":"count the herons at pond seven","label":"herons"}`)
	var child skald.SessionInfo
	eventually(t, 60*time.Second, "the child's session is stored and linked", func() bool {
		list, err := w.Client.ListSessions(ctx, world.Identity, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if strings.HasPrefix(s.Key, "agent:main:subagent:") && s.Turns >= 2 && s.Parent != "" {
				child = s
			}
		}
		return child.ID != ""
	})
	if child.Audience != skald.AudienceSubagent {
		t.Errorf("the child's audience is %q", child.Audience)
	}
	turns, err := w.Client.ListTurns(ctx, world.Identity, child.ID, 0, 0)
	if err != nil || count(turns, "count the herons at pond seven") == 0 {
		t.Errorf("the child's task is not stored: %v\n%s", err, listTurns(turns))
	}
	host, err := w.Transcript(child.Key)
	if err != nil {
		t.Fatal(err)
	}
	compareTurns(t, child.Key, turns, host)
	// The host announces the child's end to the parent in a turn of its own, which is never committed; a later bootstrap brings it.
	eventually(t, 60*time.Second, "the announcement is stored", func() bool {
		turn(t, ctx, w, key, "thanks")
		return agrees(t, ctx, w, key) && count(stored(t, ctx, w, key), "A background task completed") > 0
	})
	sameAsHost(t, ctx, w, key)
	up, err := w.Client.Expand(ctx, world.Identity, child.Parent, "", 20)
	if err != nil || !expanded(up, "sessions_spawn") && !expanded(up, "herons") {
		t.Errorf("the link to the parent, %s, leads to %+v, %v", child.Parent, up.Turns, err)
	}
	down, err := w.Client.Expand(ctx, world.Identity, string(child.URI), "", 20)
	if err != nil || !expanded(down, "count the herons") {
		t.Errorf("the child's session expands to %+v, %v", down.Turns, err)
	}
	if task := requestOf(w, "count the herons at pond seven"); task == nil || task.Contains("quartz") {
		t.Errorf("an isolated child shall be asked without the parent's turns: %+v", task)
	}
}

func expanded(x skald.Expansion, text string) bool {
	for _, turn := range x.Turns {
		if strings.Contains(turn.Text, text) {
			return true
		}
	}
	return false
}

// requestOf is the newest model request whose prompt has the text.
func requestOf(w *world.World, text string) *scripted.Request {
	list := w.Model.Requests()
	for i := len(list) - 1; i >= 0; i-- {
		if strings.Contains(list[i].PromptText(), text) {
			return &list[i]
		}
	}
	return nil
}

// Two keys never see each other's data: not through the plugin, not by id, list, search, expand or tool (I9).
func TestKeys(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, time.Minute)
	bob := client.New(w.Daemon.URL(), bobsKey, client.Options{})
	bobs := skald.Identity{Account: "default", User: "bob", Agent: "main"}

	key := "agent:main:alice"
	turn(t, ctx, w, key, "Please remember that my locker at the Kestrel gym is number 7741.")
	said := skald.SessionAddress{SessionKey: "agent:main:bob", AgentID: "main"}
	_, err := bob.CommitTurn(ctx, skald.CommitTurnRequest{
		Request: skald.Request{Identity: bobs, Session: said}, AdvancementKey: "b1", TokenBudget: 64_000,
		Messages: []json.RawMessage{
			[]byte(`{"role":"user","content":"Please remember that my locker at the Kestrel gym is number 9182.","timestamp":1796000000000}`),
			[]byte(`{"role":"assistant","content":[{"type":"text","text":"Noted."}],"timestamp":1796000000001}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	alice := stored(t, ctx, w, key)[0].Envelope.SessionID
	bobSession := skald.SessionID("", "agent:main:bob")
	for _, at := range []struct {
		c       *client.Client
		id      skald.Identity
		session string
	}{{w.Client, world.Identity, alice}, {bob, bobs, bobSession}} {
		if _, err := at.c.Commit(ctx, at.id, at.session, true); err != nil {
			t.Fatal(err)
		}
	}

	question := "What is the number of my locker at the Kestrel gym?"
	requests := turn(t, ctx, w, "agent:main:alice-later", question)
	if !requests[0].Contains("7741") || strings.Contains(string(requests[0].Raw), "9182") {
		t.Errorf("alice's recall:\n%s", requests[0].Raw)
	}
	answer, err := bob.Tool(ctx, skald.ToolRequest{Request: skald.Request{Identity: bobs, Session: said}, Tool: "memory_recall", Args: []byte(`{"query":"` + question + `"}`)})
	if err != nil || !strings.Contains(answer.Text, "9182") || strings.Contains(answer.Text, "7741") {
		t.Errorf("bob's recall: %s, %v", answer.Text, err)
	}
	foreign := []struct {
		name    string
		c       *client.Client
		id      skald.Identity
		session string
		secret  string
	}{{"bob", bob, bobs, alice, "7741"}, {"alice", w.Client, world.Identity, bobSession, "9182"}}
	for _, f := range foreign {
		if list, err := f.c.ListTurns(ctx, f.id, f.session, 0, 0); skald.KindOf(err) != skald.KindNotFound {
			t.Errorf("%s reads a foreign session: %d turns, %v", f.name, len(list), err)
		}
		for _, uri := range []string{"viking://session/" + f.session, "viking://user/default/sessions/" + f.session, "viking://user/bob/sessions/" + f.session} {
			if x, err := f.c.Expand(ctx, f.id, uri, "", 10); err == nil && len(x.Turns) > 0 {
				t.Errorf("%s expands %s: %+v", f.name, uri, x.Turns)
			}
		}
		found, err := f.c.Find(ctx, f.id, skald.FindQuery{Query: "locker Kestrel gym number", Limit: 50})
		if err != nil || strings.Contains(fmt.Sprint(found), f.secret) {
			t.Errorf("%s finds %s: %+v, %v", f.name, f.secret, found.Hits, err)
		}
		list, err := f.c.ListSessions(ctx, f.id, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.ID == f.session {
				t.Errorf("%s lists %s", f.name, s.ID)
			}
		}
	}
	if _, err := client.New(w.Daemon.URL(), "wrong-"+bobsKey, client.Options{}).ListSessions(ctx, bobs, 0); skald.KindOf(err) != skald.KindUnauth {
		t.Errorf("a wrong key: %v", err)
	}
}

// Two agents of one user share the user's memories and not the agent's own, unless a policy keeps the user's apart too (C-7, C-8).
func TestAgents(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, time.Minute)
	request := func(agent string, set skald.Settings) skald.Request {
		return skald.Request{Identity: world.Identity, Settings: set, Session: skald.SessionAddress{SessionKey: "agent:" + agent + ":keeper", AgentID: agent}}
	}
	// Not through a turn: its raw text would be found as the user's, whoever asks.
	store := func(agent string, set skald.Settings, args string) {
		t.Helper()
		answer, err := w.Client.Tool(ctx, skald.ToolRequest{Request: request(agent, set), Tool: "memory_store", Args: []byte(args)})
		if err != nil || answer.IsError {
			t.Fatalf("memory_store: %s, %v", answer.Text, err)
		}
	}
	store("main", skald.Settings{}, `{"text":"The user's favourite tram is line 18.","type":"preferences"}`)
	store("main", skald.Settings{}, `{"text":"Case: the fjord importer stalls on empty rows; skip them.","type":"cases"}`)
	const tram, fjord = "Which tram is the favourite of the user?", "Why does the fjord importer stall?"

	other := "agent:other:asker"
	if r := turn(t, ctx, w, other, tram)[0]; !r.Contains("line 18") {
		t.Errorf("by default agents share the user's memories:\n%s", r.Raw)
	}
	if r := turn(t, ctx, w, other, fjord)[0]; r.Contains("skip them") {
		t.Errorf("the other agent's own memories were shown:\n%s", r.Raw)
	}
	if !turn(t, ctx, w, "agent:main:asker", fjord)[0].Contains("skip them") {
		t.Error("the agent does not recall its own case")
	}

	yes := true
	for _, c := range []struct {
		name, agent string
		set         skald.Settings
		query       string
		want        string
		seen        bool
	}{
		{"apart", "other", skald.Settings{IsolateUserByAgent: &yes}, tram, "line 18", false},
		{"shared", "other", skald.Settings{}, tram, "line 18", true},
		{"agent's own", "main", skald.Settings{}, fjord, "skip them", true},
		{"agent's own, by user", "main", skald.Settings{IsolateAgentByUser: &yes}, fjord, "skip them", false}, // stored without the policy
	} {
		answer := recallTool(t, ctx, w, c.agent, c.set, c.query)
		if strings.Contains(answer, c.want) != c.seen {
			t.Errorf("%s: %s", c.name, answer)
		}
	}
	// What is stored under a policy stays within it.
	apart := skald.Settings{IsolateUserByAgent: &yes, IsolateAgentByUser: &yes}
	store("other", apart, `{"text":"The user's favourite ferry is the Hurtig.","type":"preferences"}`)
	const ferry = "Which ferry is the favourite of the user?"
	if answer := recallTool(t, ctx, w, "other", apart, ferry); !strings.Contains(answer, "Hurtig") {
		t.Errorf("the agent that stored it: %s", answer)
	}
	for _, set := range []skald.Settings{{}, apart} {
		if answer := recallTool(t, ctx, w, "main", set, ferry); strings.Contains(answer, "Hurtig") {
			t.Errorf("another agent: %s", answer)
		}
	}
}

func recallTool(t *testing.T, ctx context.Context, w *world.World, agent string, set skald.Settings, query string) string {
	t.Helper()
	args, _ := json.Marshal(map[string]string{"query": query})
	answer, err := w.Client.Tool(ctx, skald.ToolRequest{Tool: "memory_recall", Args: args, Request: skald.Request{
		Identity: world.Identity, Settings: set, Session: skald.SessionAddress{SessionKey: "agent:" + agent + ":tool", AgentID: agent}}})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Text
}

// After a rewind and after a fork the host goes on under a new session id with copies of the old entries (docs/openclaw.md, 7): both
// sessions hold what their transcripts hold, and a fact is not recalled twice.
func TestRewindAndFork(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 2*time.Minute)
	key := "agent:main:rewound"
	for _, text := range []string{"one: the anchor word is basalt", "two: the wrong way", "three: further the wrong way"} {
		turn(t, ctx, w, key, text)
	}
	first := sameAsHost(t, ctx, w, key)
	// The RPCs name entries by the host's id, which the store keeps.
	entry := first[2].EntryID
	if entry == "" {
		t.Fatalf("no entry id is stored for turn 3: %+v", first[2])
	}
	if raw, err := w.Gateway.Call(ctx, "sessions.rewind", map[string]any{"sessionKey": key, "entryId": entry}); err != nil {
		t.Fatalf("rewind: %s, %v", raw, err)
	}
	requests := turn(t, ctx, w, key, "two: the right way")
	if !requests[0].Contains("ok: one: the anchor word is basalt") {
		t.Errorf("after the rewind the model does not see what was kept:\n%s", requests[0].Raw)
	}
	for _, m := range requests[0].Messages[:requests[0].PromptIndex] {
		if m.Role == "assistant" && strings.HasPrefix(m.Text, "ok: two: the wrong way") {
			t.Errorf("after the rewind the model is shown the branch that was left: %s", m.Raw)
		}
	}
	turn(t, ctx, w, key, "three: further the right way")
	checkBranches(t, ctx, w, key, 2)
	verifyAll(t, ctx, w)

	raw, err := w.Gateway.Call(ctx, "sessions.fork", map[string]any{"sessionKey": key, "entryId": stored2(t, ctx, w, key)})
	if err != nil {
		t.Logf("sessions.fork cannot be driven this way: %s, %v", raw, err)
		return
	}
	t.Logf("fork: %s", raw)
	var answer struct {
		Key        string `json:"key"`
		SessionKey string `json:"sessionKey"`
	}
	if err := json.Unmarshal(raw, &answer); err == nil && answer.Key+answer.SessionKey != "" {
		forked := answer.Key
		if forked == "" {
			forked = answer.SessionKey
		}
		turn(t, ctx, w, forked, "four: on the fork")
		checkBranches(t, ctx, w, forked, 1)
	}
	verifyAll(t, ctx, w)
}

// stored2 is the entry id of the newest stored user turn of the key's newest session.
func stored2(t *testing.T, ctx context.Context, w *world.World, key string) (entry string) {
	t.Helper()
	for _, turn := range stored(t, ctx, w, key) {
		if turn.Envelope.Role == skald.RoleUser && turn.EntryID != "" {
			entry = turn.EntryID
		}
	}
	return entry
}

// checkBranches checks every stored session of a key against the transcript of its session id.
func checkBranches(t *testing.T, ctx context.Context, w *world.World, key string, want int) {
	t.Helper()
	list, err := w.Client.ListSessions(ctx, world.Identity, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range list {
		if s.Key != key {
			continue
		}
		found++
		turns, err := w.Client.ListTurns(ctx, world.Identity, s.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		host, err := w.Path(key, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		compareTurns(t, key+" "+s.ID, turns, host)
	}
	if found != want {
		t.Errorf("%s has %d stored sessions, not %d", key, found, want)
	}
}

// reset resets a session over RPC.
func reset(t *testing.T, ctx context.Context, w *world.World, key string) {
	t.Helper()
	if _, err := w.Gateway.Call(ctx, "sessions.reset", map[string]any{"key": key}); err != nil {
		t.Fatal(err)
	}
}

// epochs are the epochs of a session's turns by what was said.
func epochs(turns []skald.TurnInfo) (list []string) {
	for _, turn := range turns {
		if turn.Envelope.Role == skald.RoleUser && len(turn.Envelope.Parts) > 0 {
			list = append(list, fmt.Sprintf("%s:%d", turn.Envelope.Parts[0].Text, turn.Epoch))
		}
	}
	return list
}

// A reset begins a new epoch: the model starts from nothing, sequences go on, and a turn that was missed while the daemon was down
// belongs to the epoch in which it was said (000-190).
func TestResetEpochs(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 3*time.Minute)
	t.Run("seen", func(t *testing.T) {
		key := "agent:main:reset"
		turn(t, ctx, w, key, "one")
		turn(t, ctx, w, key, "two")
		reset(t, ctx, w, key)
		r := turn(t, ctx, w, key, "three")[0]
		for _, m := range r.Messages[:r.PromptIndex] {
			if m.Role == "assistant" && strings.HasPrefix(m.Text, "ok: ") {
				t.Errorf("after the reset the model was shown an old turn: %s", m.Raw)
			}
		}
		turn(t, ctx, w, key, "four")
		checkEpochs(t, ctx, w, key, "one:1 two:1 three:2 four:2")
	})
	t.Run("missed before", func(t *testing.T) {
		key := "agent:main:reset-missed"
		turn(t, ctx, w, key, "one")
		down(w)
		turn(t, ctx, w, key, "two")
		reset(t, ctx, w, key)
		up(t, ctx, w)
		turn(t, ctx, w, key, "three")
		turn(t, ctx, w, key, "four")
		checkEpochs(t, ctx, w, key, "one:1 two:1 three:2 four:2")
	})
	t.Run("missed around", func(t *testing.T) {
		key := "agent:main:reset-around"
		turn(t, ctx, w, key, "one")
		down(w)
		turn(t, ctx, w, key, "two")
		reset(t, ctx, w, key)
		turn(t, ctx, w, key, "three")
		up(t, ctx, w)
		turn(t, ctx, w, key, "four")
		turn(t, ctx, w, key, "five")
		checkEpochs(t, ctx, w, key, "one:1 two:1 three:2 four:2 five:2")
	})
}

func checkEpochs(t *testing.T, ctx context.Context, w *world.World, key, want string) {
	t.Helper()
	turns := sameAsHost(t, ctx, w, key)
	if got := strings.Join(epochs(turns), " "); got != want {
		t.Errorf("epochs: %s\nwant:   %s", got, want)
	}
}

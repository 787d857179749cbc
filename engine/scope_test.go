package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/strategy"
)

// Epochs: a new lifecycle revision, or an empty list where turns are stored.
func TestEpochs(t *testing.T) {
	for name, reset := range map[string]func(h *host){
		"lifecycle": func(h *host) { h.req.Session.Lifecycle = "r2" },
		"empty":     func(h *host) { h.list = nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.req.Session.Lifecycle = "r1"
			first := h.say("The vault code is PELICAN", "noted")
			h.say("tell me about trees please", "tall")
			reset(h)
			out := h.assemble("tell me a story about trees")
			if len(rawOnly(out)) != 0 || out.ProjectionEpoch == first.ProjectionEpoch {
				t.Fatalf("the new epoch is not empty: %s", out.Messages)
			}
			if l := h.archives(); len(l) != 1 || l[0].Cause != "reset" || l[0].Epoch != 1 {
				t.Fatalf("%+v", l)
			}
			h.jobs()
			h.list = nil
			h.commit(h.user("tell me a story about trees"), h.reply("once"))
			next := h.assemble("what is the vault code?")
			contains(t, shownText(next), "PELICAN") // found by recall
			if n := len(rawOnly(next)); n != 2 {
				t.Fatalf("%d raw turns", n)
			}
			if s := h.state(); s.Epoch != 2 || s.EpochFrom != 5 {
				t.Fatalf("%+v", s)
			}
			h.verify()
		})
	}
}

func TestLateDeliveryGoesToItsEpoch(t *testing.T) {
	h := newHost(t)
	h.anchored("k1", "a", 0, h.user("old one"), h.reply("old reply"))
	late := []json.RawMessage{h.user("late one"), h.reply("late reply")}
	h.list = nil
	h.assemble("new start, please begin")
	h.anchored("k3", "c", 10, h.user("new one"), h.reply("new reply"))
	h.anchored("k2", "b", 2, late...)
	h.anchored("k4", "d", 12, h.user("newer one"), h.reply("newer reply"))
	epochs := ""
	for _, turn := range h.turns() {
		epochs += fmt.Sprint(turn.Epoch)
	}
	if epochs != "11221122" {
		t.Fatal(epochs)
	}
	text := shownText(h.assemble("and what was it now?", func(r *skald.AssembleRequest) { r.Settings.AutoRecall = new(bool) }))
	lacks(t, text, "late")
	contains(t, text, "newer reply")
	h.compactAll()
	for _, a := range h.archives() {
		for _, turn := range h.turns()[a.From-1 : a.To] {
			if turn.Epoch != a.Epoch {
				t.Fatalf("archive %d of epoch %d holds turn %d of epoch %d", a.Index, a.Epoch, turn.Envelope.Sequence, turn.Epoch)
			}
		}
	}
	h.verify()
}

// The late one arrives before anything of the new epoch.
func TestLateDeliveryFirst(t *testing.T) {
	h := newHost(t)
	h.anchored("k1", "a", 5, h.user("old one"), h.reply("old reply"))
	h.list = nil
	h.assemble("new start, please begin")
	h.anchored("k0", "z", 3, h.user("late one"), h.reply("late reply"))
	h.anchored("k2", "b", 9, h.user("new one"), h.reply("new reply"))
	if l := h.turns(); l[2].Epoch != 1 || l[4].Epoch != 2 {
		t.Fatal(l[2].Epoch, l[4].Epoch)
	}
	if s := h.state(); s.EpochFrom != 5 || s.EpochPosition != 9 {
		t.Fatalf("%+v", s)
	}
	h.verify()
}

func TestCRS08RestartIsNoReset(t *testing.T) {
	h := newHost(t)
	h.say("the first thing of all", "yes")
	for _, reason := range []string{"restart", "shutdown"} {
		h.must(h.e.Event(context.Background(), skald.EventRequest{Request: h.request(), Event: "session_end", Reason: reason}))
	}
	h.must(h.e.Event(context.Background(), skald.EventRequest{Request: h.request(), Event: "session_start"}))
	if len(h.archives()) != 0 || len(rawOnly(h.assemble("and the second thing?"))) != 2 {
		t.Fatal("the session ended")
	}
	h.must(h.e.Event(context.Background(), skald.EventRequest{Request: h.request(), Event: "session_end", Reason: "reset"}))
	if l := h.archives(); len(l) != 1 || l[0].Cause != "reset" {
		t.Fatalf("%+v", l)
	}
}

func TestIDN09DailyJob(t *testing.T) {
	h := newHost(t).session("agent:main:cron:daily")
	h.say("run the daily report of token A", "token A it is")
	h.list = nil
	out := h.assemble("run the daily report of token A")
	if len(out.Messages) != 0 {
		t.Fatalf("run 2 holds run 1: %s", out.Messages)
	}
	contains(t, h.tool("memory_recall", map[string]any{"query": "daily report token"}).Text, "token A")
}

func TestIDN01AgentsApart(t *testing.T) {
	h := newHost(t, func(o *engine.Options) { o.Policy.IsolateUserScopeByAgent = true })
	agents := map[string]string{"a1": "walnuts", "a2": "hazelnuts", "a3": "peanuts"}
	for agent, fact := range agents {
		h.session("agent:"+agent+":main").say("My parrot eats "+fact, "ok")
	}
	for agent, fact := range agents {
		text := shownText(h.session("agent:" + agent + ":second").assemble("what does my parrot eat?"))
		contains(t, text, fact)
		for _, other := range agents {
			if other != fact {
				lacks(t, text, " "+other)
			}
		}
	}
}

// I9: both isolation policies.
func TestPolicies(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		h := newHost(t, func(o *engine.Options) {
			o.Policy = skald.Policy{IsolateUserScopeByAgent: isolated, IsolateAgentScopeByUser: isolated}
		})
		h.tool("memory_store", map[string]any{"text": "My parrot eats walnuts"})
		h.tool("memory_store", map[string]any{"text": "When the build fails, clean the walnut cache first", "type": "patterns"})
		agent := h.session("agent:other:main")
		person := h.as(func(r *skald.Request) { r.Identity = skald.Identity{Account: "default", User: "kim", Agent: "main"} })
		foreign := h.as(func(r *skald.Request) { r.Identity = skald.Identity{Account: "acme", User: "default", Agent: "main"} })
		ask := func(s *host) string {
			return s.tool("memory_recall", map[string]any{"query": "walnuts parrot walnut cache build"}).Text
		}
		if got := strings.Contains(ask(agent), "parrot eats"); got == isolated {
			t.Fatal("user memories, isolated:", isolated)
		}
		if got := strings.Contains(ask(person), "clean the walnut cache"); got == isolated {
			t.Fatal("agent memories, isolated:", isolated)
		}
		lacks(t, ask(person), "parrot eats")
		lacks(t, ask(agent), "clean the walnut cache")
		lacks(t, ask(foreign), "walnut cache")
	}
}

// I9: two identities never meet, though all their ids are equal.
func TestI9TwoIdentities(t *testing.T) {
	h := newHost(t)
	h.say("My salary is 5000 doubloons", "ok")
	h.compactAll()
	h.tool("memory_store", map[string]any{"text": "My parrot eats walnuts"})
	for _, id := range []skald.Identity{{Account: "default", User: "kim", Agent: "main"}, {Account: "acme", User: "default", Agent: "main"}} {
		other := h.as(func(r *skald.Request) { r.Identity = id })
		if out := other.assemble("what is my salary in doubloons?"); len(out.Messages) != 0 {
			t.Fatalf("%s", out.Messages)
		}
		lacks(t, other.find("salary doubloons walnuts"), "5000")
		if sessions, _ := h.e.ListSessions(context.Background(), id, 0); len(sessions) != 1 || sessions[0].Turns != 0 {
			t.Fatal(sessions)
		}
		for _, uri := range []string{string(h.ref().URI()), string(h.ref().ArchiveURI(1)), string(h.ref().TurnsURI(1, 1)), "viking://user/default/memories/profile.md"} {
			lacks(t, other.tool("memory_expand", map[string]any{"uri": uri}).Text, "5000") // equal user names of two accounts: equal uris
			text, _ := h.e.Read(context.Background(), id, uri)
			lacks(t, text, "5000")
		}
		if a := other.tool("memory_forget", map[string]any{"uri": "viking://user/default/memories/entities/x.md"}); !a.IsError {
			t.Fatal(a)
		}
		v, err := h.e.Verify(context.Background(), id, "")
		h.must(err)
		if v.Turns != 0 {
			t.Fatal(v)
		}
	}
	h.verify()
}

// I9: a group session knows its own audience only, in every tool, even before anything of it is stored.
func TestI9Group(t *testing.T) {
	h := newHost(t)
	h.say("Remember that I prefer a salary of 5000 doubloons", "ok")
	h.compactAll()
	group := h.session("agent:main:telegram:group:42")
	uri := string(h.ref().ArchiveURI(1))
	memoryURI := h.memoryURI("doubloons")
	for range 2 {
		lacks(t, group.tool("memory_recall", map[string]any{"query": "salary doubloons"}).Text, "5000")
		for _, u := range []string{uri, memoryURI, string(h.ref().TurnsURI(1, 1))} {
			if a := group.tool("memory_expand", map[string]any{"uri": u}); !a.IsError {
				t.Fatalf("%s: %s", u, a.Text)
			}
		}
		if a := group.tool("memory_forget", map[string]any{"uri": memoryURI}); !a.IsError {
			t.Fatal("a group forgot the owner's memory")
		}
		lacks(t, group.find("salary doubloons"), "5000")
		lacks(t, shownText(group.assemble("what salary in doubloons?")), "5000")
		group.say("we meet at noon in the harbour", "ok")
	}
	contains(t, group.tool("memory_recall", map[string]any{"query": "harbour noon"}).Text, "harbour")
	contains(t, h.tool("memory_recall", map[string]any{"query": "harbour noon"}).Text, "harbour") // the owner may recall all
	lacks(t, h.session("agent:main:telegram:group:43").tool("memory_recall", map[string]any{"query": "harbour noon"}).Text, "harbour")
}

func (h *host) memoryURI(part string) (uri string) {
	h.t.Helper()
	h.must(h.store.View(context.Background(), func(tx skald.Tx) error {
		list, err := tx.Memories(skald.MemoryQuery{Scopes: skald.Policy{}.Readable(h.identity())})
		for _, m := range list {
			if strings.Contains(m.Text, part) {
				uri = string(m.URI)
			}
		}
		return err
	}))
	if uri == "" {
		h.t.Fatal("no memory of ", part)
	}
	return uri
}

func TestIDN06Speakers(t *testing.T) {
	h := newHost(t).session("agent:main:telegram:group:42")
	said := func(name, text string) json.RawMessage {
		return host1("user", text, h.tick(), map[string]any{"__openclaw": map[string]any{"senderName": name, "senderIsOwner": false}})
	}
	h.commit(said("Kim", "I prefer dark mode"), h.reply("ok"))
	h.commit(said("Lee", "I prefer light mode"), h.reply("ok"))
	h.commit(host1("user", "I prefer no mode", h.tick(), nil), h.reply("ok"))
	h.compactAll()
	speakers := []string{"Kim", "", "Lee", "", "", ""}
	for i, turn := range h.turns() {
		if got := turn.Origin; turn.Envelope.Role == skald.RoleUser && got != skald.OriginPerson {
			t.Fatalf("turn %d is %s's", i+1, got)
		}
		_ = speakers
	}
	text := h.tool("memory_recall", map[string]any{"query": "Lee prefer mode"}).Text
	contains(t, text, "Lee: I prefer light mode")
	direct := h.session("agent:main:direct")
	lacks(t, shownText(direct.assemble("hello there, how are things with my roof?")), "dark mode")
}

func TestIDN04Subagent(t *testing.T) {
	h := newHost(t)
	h.say("My salary is 5000 doubloons", "ok")
	parent := h.session("agent:main:work")
	parent.say("The tower has 13 floors", "noted")
	child := spawn(parent, "isolated")
	child.say("count the floors", "13")
	for _, uri := range []string{string(h.ref().URI()), string(h.ref().TurnsURI(1, 1))} {
		if a := child.tool("memory_expand", map[string]any{"uri": uri}); !a.IsError {
			t.Fatal(a.Text)
		}
	}
	lacks(t, child.tool("memory_recall", map[string]any{"query": "salary doubloons"}).Text, "5000")
	contains(t, child.tool("memory_expand", map[string]any{"uri": string(parent.ref().URI())}).Text, "13 floors")
	contains(t, child.tool("memory_expand", map[string]any{"uri": string(child.ref().URI())}).Text, "count the floors")
}

const childKey = "agent:main:subagent:77"

func spawn(parent *host, mode string) *host {
	parent.t.Helper()
	parent.must(parent.e.PrepareSubagent(context.Background(), skald.SubagentRequest{Request: parent.request(), ChildKey: childKey, Mode: mode}))
	return parent.session(childKey)
}

func TestSubagents(t *testing.T) {
	h := newHost(t)
	h.commit(h.user("Remember that I prefer dark mode"), h.reply("ok"))
	for i := range 10 {
		h.say(fmt.Sprintf("We decided on floor %d. %s", i, long(100)), "ok")
	}
	h.compact()
	t.Run("isolated", func(t *testing.T) {
		child := spawn(h, "isolated")
		if out := child.assemble("count the floors of the tower"); len(out.Messages) != 0 {
			t.Fatalf("%s", out.Messages)
		}
		h.must(h.e.RollbackSubagent(context.Background(), skald.SubagentRequest{Request: h.request(), ChildKey: childKey}))
		if s := child.state(); s.Parent != "" || s.HeadSet {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("fork", func(t *testing.T) {
		child := spawn(h, "fork")
		out := child.assemble("count the floors of the tower")
		contains(t, shownText(out), "dark mode")
		contains(t, textOf(out.Messages[0]), "archive_001")
		valid(t, out, child.budget)
		parent := h.state().LastSeq
		child.commit(child.user("count the floors of the tower"), child.reply("10"))
		h.must(h.e.SubagentEnded(context.Background(), skald.SubagentRequest{Request: h.request(), ChildKey: childKey, Reason: "completed"}))
		h.say("the child is done", "good")
		if s := child.state(); s.Parent != string(h.ref().TurnsURI(parent+1, 0)) || s.Archives != 1 {
			t.Fatalf("%+v", s)
		}
		x, err := h.e.Expand(context.Background(), h.identity(), child.state().Parent, "", 0)
		h.must(err)
		if len(x.More) != 1 || x.More[0] != child.ref().URI() {
			t.Fatalf("the parent's turn does not lead to the child: %v", x.More)
		}
		again, err := h.e.Expand(context.Background(), h.identity(), string(x.More[0]), "", 0)
		h.must(err)
		if again.Total != 2 {
			t.Fatal(again)
		}
		h.must(h.e.RollbackSubagent(context.Background(), skald.SubagentRequest{Request: h.request(), ChildKey: childKey}))
		if child.state().Parent == "" {
			t.Fatal("a child that has spoken was rolled back")
		}
	})
	h.verify()
}

// 000-121 to 000-123, 000-165
func TestREQ165ExpandValidation(t *testing.T) {
	h := newHost(t)
	for i := range 10 {
		h.say(fmt.Sprintf("question %d about the barn", i), fmt.Sprintf("answer %d", i))
	}
	h.compactAll()
	for name, args := range map[string]any{
		"no uri": map[string]any{}, "no viking": map[string]any{"uri": "http://x"}, "tricks": map[string]any{"uri": "viking://user/default/../other"},
		"negative": map[string]any{"uri": string(h.ref().URI()), "limit": -1}, "fraction": map[string]any{"uri": string(h.ref().URI()), "limit": 1.5},
		"huge": map[string]any{"uri": string(h.ref().URI()), "limit": 1e9}, "type": map[string]any{"uri": 7}, "list": []int{1},
		"missing": map[string]any{"uri": string(h.ref().TurnsURI(500, 501))}, "no archive": map[string]any{"uri": string(h.ref().ArchiveURI(9))},
	} {
		if a := h.tool("memory_expand", args); !a.IsError || a.Text == "" {
			t.Fatalf("%s: %+v", name, a)
		}
	}
	if len(h.status().Faults) != 0 {
		t.Fatal("a model's mistake is no fault of the engine")
	}
	a := h.tool("memory_expand", map[string]any{"summaryOrMemoryUri": string(h.ref().ArchiveURI(1)), "query": "question 7"})
	var x skald.Expansion
	h.must(json.Unmarshal(a.Details, &x))
	if a.IsError || len(x.Turns) != 6 || x.Total != 20 || len(x.More) == 0 || x.Session != h.ref().URI() || x.Archive != h.ref().ArchiveURI(1) {
		t.Fatalf("%+v", x)
	}
	contains(t, a.Text, "question 7")
	contains(t, a.Text, "more: viking://")
	for _, u := range x.More {
		if b := h.tool("memory_expand", map[string]any{"uri": string(u)}); b.IsError {
			t.Fatal(u, b.Text)
		}
	}
	one := h.tool("memory_expand", map[string]any{"uri": string(h.ref().TurnsURI(3, 3))})
	contains(t, one.Text, "question 1 about the barn")
	var six skald.Expansion
	three := 3
	h.req.Settings.MemoryExpandMaxResults = &three
	h.must(json.Unmarshal(h.tool("memory_expand", map[string]any{"uri": string(h.ref().URI())}).Details, &six))
	if len(six.Turns) != 3 {
		t.Fatal(len(six.Turns))
	}
}

// 000-169, 000-181; I5 of an explicit memory.
func TestREQ169StoreIsThereAtOnce(t *testing.T) {
	h := newHost(t)
	h.tool("memory_store", map[string]any{"text": "I prefer dark theme"})
	h.verify() // its exchange is under way
	h.commit(h.user("Remember I prefer dark theme"), h.call("c1", "memory_store", map[string]any{"text": "I prefer dark theme"}), h.result("c1", "memory_store", "Stored"), h.reply("ok"))
	contains(t, shownText(h.session("agent:main:new").assemble("which theme do I prefer?")), "dark theme")
	h.compactAll()
	h.compactAll()
	if h.memories() != 1 {
		t.Fatal("the pipeline doubled it: ", h.memories())
	}
	h.verify()
	// a tool called without any session
	bare := h.as(func(r *skald.Request) { r.Session = skald.SessionAddress{} })
	if a := bare.tool("memory_store", map[string]any{"text": "My boat is called Albatross"}); a.IsError {
		t.Fatal(a.Text)
	}
	h.verify()
}

// What memory_forget took is found nowhere, and stays away.
func TestForget(t *testing.T) {
	h := newHost(t)
	h.say("Remember that I prefer black coffee from Zanzibar", "ok")
	h.say("tell me of the weather", "fine")
	h.compactAll()
	h.req.Settings.RecentRawTurnCount = new(int)
	for range 9 {
		h.say("more of the weather please", long(100))
	}
	h.compact()
	other := h.session("agent:main:other")
	contains(t, shownText(other.say("what coffee do I prefer?", "a good one")), "Zanzibar")
	third := h.session("agent:main:third")
	contains(t, shownText(third.say("tell me about my coffee preference", "sure")), "Zanzibar")
	uri := h.memoryURI("Zanzibar")
	if a := h.tool("memory_forget", map[string]any{"uri": uri}); a.IsError {
		t.Fatal(a.Text)
	}
	check := func() {
		t.Helper()
		for _, s := range []*host{h, other, third, h.session("agent:main:fresh")} {
			lacks(t, shownText(s.assemble("so what coffee do I prefer?", func(r *skald.AssembleRequest) { r.TurnID = fmt.Sprint("again", h.now) })), "Zanzibar")
			lacks(t, s.find("coffee Zanzibar"), "Zanzibar")
			lacks(t, s.tool("memory_recall", map[string]any{"query": "coffee Zanzibar"}).Text, "Zanzibar")
		}
		for _, a := range h.archives() {
			text, err := h.e.Read(context.Background(), h.identity(), string(h.ref().ArchiveURI(a.Index).Join(".overview.md")))
			h.must(err)
			lacks(t, text, "Zanzibar")
			lacks(t, h.tool("memory_expand", map[string]any{"uri": string(h.ref().ArchiveURI(a.Index)), "query": "coffee"}).Text, "Zanzibar")
		}
	}
	check()
	contains(t, h.tool("memory_expand", map[string]any{"uri": string(h.ref().TurnsURI(1, 1))}).Text, "Zanzibar") // by its own uri
	h.say("and the weather of tomorrow?", "rain")
	h.compactAll()
	h.compact()
	check()
	h.verify()
}

func TestUnknownStrategy(t *testing.T) {
	if _, err := engine.New(nil, engine.Options{Strategy: "magic"}); skald.KindOf(err) != skald.KindInvalid || !strings.Contains(err.Error(), strategy.Default) {
		t.Fatal(err)
	}
}

// TestStrategyOfRequest: the plugin's configuration chooses for its own requests; a name that is not known is refused, never replaced.
func TestStrategyOfRequest(t *testing.T) {
	h := newHost(t)
	h.session("agent:main:old").commit(h.user("The parrot of the office is called Polly."), h.reply("Noted."))
	h.commit(h.user("Hello there."), h.reply("Hello."))
	contains(t, shownText(h.assemble("What is the parrot of the office called?")), "Polly")
	h.req.Settings.Strategy = "legacy"
	lacks(t, shownText(h.assemble("What is the parrot of the office called?", func(r *skald.AssembleRequest) { r.TurnID = "t2" })), "Polly")
	x, err := h.e.Explain(context.Background(), h.identity(), h.id(), 0)
	if err != nil || x.Strategy != "legacy" {
		t.Errorf("explained as %q, %v", x.Strategy, err)
	}
	h.req.Settings.Strategy = "magic"
	if _, err := h.tryAssemble("And now?"); skald.KindOf(err) != skald.KindInvalid || !strings.Contains(err.Error(), "dag") {
		t.Errorf("an unknown strategy: %v", err)
	}
	h.commit(h.user("Still stored?"), h.reply("Yes."))
	if n := len(h.turns()); n != 4 {
		t.Errorf("%d turns are stored, want 4", n)
	}
}

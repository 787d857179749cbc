package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Requirements that no other test covers; docs/requirements.md lists all of them. A name ends the id: TestREQ001_010 is 001-010.

// 000-023, 000-065: one recall looks into the user's and the agent's memories.
func TestREQ023BothRoots(t *testing.T) {
	h := newHost(t)
	h.tool("memory_store", map[string]any{"text": "My parrot eats walnuts", "type": "preferences"})
	h.tool("memory_store", map[string]any{"text": "When the parrot walnut importer stalls, skip empty rows", "type": "cases"})
	text := shownText(h.session("agent:main:new").assemble("what about the parrot and its walnuts?", dry("both")))
	contains(t, text, "parrot eats walnuts")
	contains(t, text, "skip empty rows")
}

// dry asks without a deadline, and places nothing.
func dry(turn string) func(*skald.AssembleRequest) {
	return func(r *skald.AssembleRequest) { r.DryRun, r.TurnID = true, turn }
}

// 000-024: only leaves are shown: memories, lines and turns, never an overview or abstract as a whole.
func TestREQ024LeavesOnly(t *testing.T) {
	h := newHost(t)
	for i := range 5 {
		h.say(fmt.Sprintf("We decided to paint boat %d green. Remember that boat %d is called Albatross %d.", i, i, i), "ok")
	}
	h.compactAll()
	out := h.session("agent:main:new").assemble("what is boat 3 called and which paint has it?", dry("leaves"))
	if len(out.Packet.RecalledMemories) == 0 {
		t.Fatal("nothing was recalled")
	}
	for _, item := range out.Packet.RecalledMemories {
		target, err := skald.URI(item.URI).Resolve(h.identity().Account)
		if err != nil || !target.Memory && target.From == 0 {
			t.Errorf("%s is no leaf (%v)", item.URI, err)
		}
	}
}

// 000-025, 000-026: threshold, abstract first, and token budget take effect; the limit and the cut of an item: TestREQ164Settings.
func TestREQ025RecallSettings(t *testing.T) {
	h := newHost(t)
	h.tool("memory_store", map[string]any{"text": "The parrot is called Polly. She came from Brazil in a blue crate."})
	before := h.session("agent:main:before")
	for i := range 30 {
		before.say(fmt.Sprintf("The garden has apple tree %d. %s", i, long(60)), "ok")
	}
	n := 0
	ask := func(prompt string, set func(s *skald.Settings)) (string, int) {
		n++
		s := h.session("agent:main:new")
		set(&s.req.Settings)
		out := s.assemble(prompt, dry(fmt.Sprint("turn ", n)))
		return shownText(out), tokens(out.Messages)
	}
	const parrot = "What is the parrot called?"
	text, _ := ask(parrot, func(*skald.Settings) {})
	contains(t, text, "Brazil")
	first := true
	text, _ = ask(parrot, func(s *skald.Settings) { s.RecallPreferAbstract = &first })
	contains(t, text, "Polly")
	lacks(t, text, "Brazil")
	highest := 1.0
	if text, _ = ask("does the parrot know anything of quantum lenses in Norway?", func(s *skald.Settings) { s.RecallScoreThreshold = &highest }); text != "" {
		t.Errorf("over the threshold: %s", text)
	}
	low := 0.01
	text, _ = ask("does the parrot know anything of quantum lenses in Norway?", func(s *skald.Settings) { s.RecallScoreThreshold = &low })
	contains(t, text, "Polly")
	_, most := ask("what about the apple tree in the garden?", func(*skald.Settings) {})
	few := 300
	_, least := ask("what about the apple tree in the garden?", func(s *skald.Settings) { s.RecallTokenBudget = &few })
	if least == 0 || least > few+300 || least >= most { // the frame of the messages comes on top of the items
		t.Errorf("a recall of %d tokens with a budget of %d, %d without", least, few, most)
	}
}

// 000-034 to 000-037, C-3: while a commit is being made the session keeps its id, and what is written belongs to the next archive.
func TestREQ036WritingWhileACommitRuns(t *testing.T) {
	h := newHost(t)
	h.say("We decided to paint the barn", "ok")
	commit := func() {
		t.Helper()
		out, err := h.e.Commit(context.Background(), h.identity(), h.id(), false)
		h.must(err)
		if !out.Archived || out.SessionID != h.id() {
			t.Fatalf("%+v", out)
		}
	}
	commit()
	if l := h.archives(); l[0].State != skald.ArchiveClosed {
		t.Fatalf("phase 2 is over: %+v", l)
	}
	h.say("We decided to paint the mill", "ok")
	commit()
	h.jobs()
	list := h.archives()
	if len(list) != 2 || list[0].To != 2 || list[1].From != 3 || list[1].To != 4 || list[1].State != skald.ArchiveDone {
		t.Fatalf("%+v", list)
	}
	if sessions, err := h.e.ListSessions(context.Background(), h.identity(), 0); err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	h.verify()
}

// 000-062: a new session begins with profile and stable preferences, and goes without what belongs to neither.
func TestREQ062Profile(t *testing.T) {
	h := newHost(t)
	h.commit(h.user("My name is Ada Berg. I prefer short answers."), h.reply("ok"))
	h.commit(h.user("I went to the dentist yesterday."), h.reply("ok"))
	h.compactAll()
	out := h.session("agent:main:new").assemble("plan my week, please")
	head := textOf(out.Messages[0])
	contains(t, head, "Ada Berg")
	contains(t, head, "short answers")
	lacks(t, head, "dentist")
}

// 000-063, 000-126: the query is joined from the last assembleRecallWindow user turns.
func TestREQ063QueryWindow(t *testing.T) {
	h := newHost(t)
	h.session("agent:main:before").say("The zeppelin is painted turquoise", "noted")
	h.commit(h.user("think of the zeppelin"), h.reply("I do"))
	h.commit(h.user("bread is expensive now"), h.reply("indeed"))
	for window, want := range map[int]bool{5: true, 2: false} {
		h.req.Settings.AssembleRecallWindow = &window
		out := h.assemble("how does it look?", dry(fmt.Sprint("window ", window)))
		if got := strings.Contains(shownText(out), "turquoise"); got != want {
			t.Errorf("a window of %d: recalled %v", window, got)
		}
	}
}

// 000-069: over the budget earlier recalls yield first, then the old summaries, then older raw turns; the newest eight stay whole meanwhile.
func TestREQ069OrderOfYielding(t *testing.T) {
	h := newHost(t)
	for i := range 30 {
		h.say(fmt.Sprintf("We agreed on item %d. %s", i, long(60)), "ok")
	}
	h.compact()
	earlier := skald.PlacedRecall{AfterSeq: h.state().LastSeq, TurnID: "earlier", Time: *h.now, Messages: [][]byte{message.User("[skald] "+long(300), 1), message.Assistant("Noted.", 1)}}
	earlier.Tokens = message.Tokens(earlier.Messages[0]) + message.Tokens(earlier.Messages[1])
	h.must(h.store.Update(context.Background(), func(tx skald.Tx) error { return tx.PutRecall(h.ref(), earlier) }))
	h.commit(h.user("What is the grey parrot called?"), h.reply("Polly"))
	h.req.Settings.AutoRecall = new(bool)
	for i := range 10 {
		h.say(fmt.Sprintf("newest talk number %d %s", i, long(60)), "yes")
	}
	newest := h.list[len(h.list)-8:]
	full := h.assemble("ok", dry("full"))
	at := map[string]int{}
	for budget := full.EstimatedTokens; budget > full.EstimatedTokens/3; budget -= 20 {
		h.budget = budget
		out := h.assemble("ok", dry(fmt.Sprint("budget ", budget)))
		valid(t, out, budget)
		for _, what := range []string{"recalls were dropped", "summary was shortened", "older turns were left out"} {
			if at[what] == 0 && strings.Contains(strings.Join(out.Cut, "\n"), what) {
				at[what] = budget
			}
		}
		prefixOf(t, newest, out.Messages[len(out.Messages)-8:])
		if at["older turns were left out"] > 0 {
			break
		}
	}
	recalls, summary, older := at["recalls were dropped"], at["summary was shortened"], at["older turns were left out"]
	if recalls == 0 || summary == 0 || older == 0 || recalls <= summary || summary <= older {
		t.Errorf("first dropped: recalls at %d, summary at %d, older turns at %d tokens", recalls, summary, older)
	}
}

// 000-123, 000-144, 000-150: an extracted memory leads to the turns that made it, and from there to its session.
func TestREQ150MemoryLeadsToItsTurns(t *testing.T) {
	h := newHost(t)
	h.say("tell me of the weather", "fine")
	h.say("Remember that I prefer the early train at 06:48", "ok")
	h.compactAll()
	uri := h.memoryURI("06:48")
	x, err := h.e.Expand(context.Background(), h.identity(), uri, "", 0)
	h.must(err)
	if len(x.Turns) == 0 || x.Turns[0].Sequence != 3 || x.Session != h.ref().URI() {
		t.Fatalf("%+v", x)
	}
	contains(t, x.Turns[0].Text, "early train at 06:48")
	lacks(t, fmt.Sprint(x.Turns), "weather")
	found := 0 // the other way: what was made of a run of turns
	ref := h.ref()
	h.must(h.store.View(context.Background(), func(tx skald.Tx) error {
		list, err := tx.Memories(skald.MemoryQuery{Scopes: skald.Policy{}.Readable(h.identity()), Source: &ref, From: 3, To: 3})
		found = len(list)
		return err
	}))
	if found == 0 {
		t.Error("no memory is listed for the turn")
	}
}

// 000-084, 000-151: a checkpoint is stored and can be read by its URI.
func TestREQ151CheckpointIsRead(t *testing.T) {
	h := newHost(t)
	h.say("Remember that I prefer dark mode", "ok")
	h.compactAll()
	text, err := h.e.Read(context.Background(), h.identity(), string(h.ref().ArchiveURI(1).Join("checkpoint.json")))
	h.must(err)
	for _, part := range []string{`"checkpoint_id"`, `"source_turn_range"`, `"end_sequence"`, ".overview.md", "viking://user/default/memories/"} {
		contains(t, text, part)
	}
}

// 000-145, 000-180: weeks after the compaction a new session is shown what was decided, and what the assistant advised.
func TestREQ180LaterSession(t *testing.T) {
	h := newHost(t)
	h.say("We decided to build project Heron on PostgreSQL 17 because of its row locks.", "Noted.")
	h.say("Give me some database advice.", "Three things. First, a connection pool for many clients. Second, a composite index on tenant and date for slow queries. Third, daily base backups.")
	for i := range 20 {
		h.say(fmt.Sprintf("more about the garden, bed %d", i), "the garden "+long(150))
	}
	if !h.compact().Compacted {
		t.Fatal("not compacted")
	}
	*h.now = h.now.Add(7 * 24 * time.Hour)
	later := h.session("agent:main:next-week")
	for question, answer := range map[string]string{
		"What did we decide about project Heron last week?":               "PostgreSQL 17",
		"Of your database advice, which item was meant for slow queries?": "composite index",
	} {
		out := later.assemble(question, dry(question))
		valid(t, out, later.budget)
		contains(t, shownText(out), answer)
	}
}

// 000-083, 000-181: a decision in ordinary talk becomes a memory at compact, not before, with its sources.
func TestREQ181DecisionAtCompact(t *testing.T) {
	h := newHost(t)
	h.say("We decided to use SQLite because it is one file.", "fine")
	for i := range 10 {
		h.say(fmt.Sprint("and now the garden, part ", i), long(200))
	}
	h.jobs()
	if n := h.memories(); n != 0 {
		t.Fatalf("%d memories before the compaction", n)
	}
	out := h.compact()
	if out.Checkpoint == nil || len(out.Checkpoint.ExtractedMemoryURIs) == 0 {
		t.Fatalf("%+v", out.Checkpoint)
	}
	contains(t, h.tool("memory_expand", map[string]any{"uri": h.memoryURI("SQLite")}).Text, "because it is one file")
	h.verify()
}

// 001-010 to 001-012
func TestREQ001_010SessionIDs(t *testing.T) {
	const uuid = "0B9D1F52-5D0E-4F53-9F3A-111111111111"
	for _, c := range []struct{ id, key, want string }{
		{uuid, "agent:main:main", strings.ToLower(uuid)},
		{"plain", "agent:main:main", skald.SessionID("", "agent:main:main")},
		{"", "", ""}, {"plain_1.2@x-y", "", "plain_1.2@x-y"},
	} {
		if got := skald.SessionID(c.id, c.key); got != c.want {
			t.Errorf("%q, %q: %q", c.id, c.key, got)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{"a/b", "..", "a b", "a\x00", "ü", strings.Repeat("x", 129), "../../etc"} {
		got := skald.SessionID(id, "")
		if len(got) != 64 || !skald.SafeID(got) || got != skald.SessionID(id, "") || seen[got] != "" {
			t.Errorf("%q: %q", id, got)
		}
		seen[got] = id
	}
	if skald.SessionID("", "agent:main:a") == skald.SessionID("", "agent:main:b") {
		t.Error("two keys, one session")
	}
}

// 001-020, 001-021, C-7, C-8: every spelling of a namespace is the one canonical URI, under both policies; tricks and other people's are refused.
func TestREQ001_020Spellings(t *testing.T) {
	id := skald.Identity{Account: "acme", User: "ann", Agent: "coder"}
	shared, apart := skald.Policy{}, skald.Policy{IsolateUserScopeByAgent: true, IsolateAgentScopeByUser: true}
	for _, c := range []struct {
		raw    string
		policy skald.Policy
		want   skald.URI
	}{
		{"viking://user/memories", shared, "viking://user/ann/memories"},
		{"viking://~/memories/", shared, "viking://user/ann/memories"},
		{"viking://user/ann/memories", shared, "viking://user/ann/memories"},
		{"viking://user/memories", apart, "viking://user/ann/agent/coder/memories"},
		{"viking://user/ann/memories", apart, "viking://user/ann/agent/coder/memories"},
		{"viking://agent/memories", shared, "viking://agent/coder/memories"},
		{"viking://agent/memories", apart, "viking://agent/coder/user/ann/memories"},
		{"viking://session/s1", shared, "viking://user/ann/sessions/s1"},
		{"viking://session/s1/history/archive_001", apart, "viking://user/ann/agent/coder/sessions/s1/history/archive_001"},
		{"viking://agent/skills", apart, "viking://agent/skills"},
		{"viking://user/%61nn/memories", shared, "viking://user/ann/memories"},
	} {
		if got, err := skald.ParseURI(c.raw, id, c.policy); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.raw, got, err, c.want)
		}
	}
	for raw, kind := range map[string]skald.Kind{
		"viking://user/bob/memories": skald.KindPermission, "viking://agent/other/memories": skald.KindPermission,
		"viking://user/../bob": skald.KindPermission, "viking://user/%2e%2e/bob": skald.KindPermission, "viking://user/ann\\x": skald.KindPermission,
		"viking://user/a\x00": skald.KindPermission, "viking://nowhere/x": skald.KindInvalid, "http://x": skald.KindInvalid, "viking://user//x": skald.KindInvalid,
	} {
		if got, err := skald.ParseURI(raw, id, shared); skald.KindOf(err) != kind {
			t.Errorf("%q: %s, %v", raw, got, err)
		}
	}
}

// 001-041: the canonical call and result of a foreign provider's shapes, through store and assemble.
func TestREQ001_041ForeignCalls(t *testing.T) {
	h := newHost(t)
	h.commit(h.user("run it"), host1("assistant", []any{map[string]any{"type": "tool_use", "id": "c1", "name": "run", "input": map[string]any{"a": 1}}}, h.tick(), nil),
		host1("tool", "all green", h.tick(), map[string]any{"tool_call_id": "c1"}), h.reply("done"))
	out := h.assemble("and the result of it?")
	valid(t, out, h.budget)
	call, err := message.Parse(out.Messages[1])
	h.must(err)
	result, err := message.Parse(out.Messages[2])
	h.must(err)
	contains(t, string(out.Messages[1]), `"toolCall"`)
	contains(t, string(out.Messages[1]), `"arguments"`)
	contains(t, string(out.Messages[2]), `"toolResult"`)
	if call.ToolCalls()[0].Name != "run" || result.ToolName != "run" || result.ToolCallID != "c1" {
		t.Fatalf("%s", out.Messages)
	}
}

// 001-060, 001-070: the archive tools of today's plugin.
func TestREQ001_070ArchiveTools(t *testing.T) {
	h := newHost(t)
	for i := range 10 {
		h.say(fmt.Sprintf("question %d about the barn", i), fmt.Sprint("answer ", i))
	}
	h.compactAll()
	for _, args := range []map[string]any{{"archive": "archive_001"}, {"archiveId": "1"}, {"uri": string(h.ref().ArchiveURI(1))}} {
		a := h.tool("ov_archive_expand", args)
		if a.IsError || strings.Count(a.Text, "about the barn") != 10 {
			t.Errorf("%v: %s", args, a.Text)
		}
	}
	contains(t, h.tool("ov_archive_search", map[string]any{"query": "question 7"}).Text, "question 7 about")
	contains(t, h.tool("ov_archive_search", map[string]any{"query": "question 7", "archive": "archive_001"}).Text, "question 7 about")
	for name, args := range map[string]any{"ov_archive_expand": map[string]any{"archive": "archive_009"}, "ov_archive_search": map[string]any{}} {
		if a := h.tool(name, args); !a.IsError {
			t.Errorf("%s %v: %s", name, args, a.Text)
		}
	}
}

// 000-044, 000-045, 000-126: where the default thresholds lie.
func TestREQ044Thresholds(t *testing.T) {
	exactly := func(h *host, n int) (raw []byte) {
		for chars := 4 * (n - 40); ; chars++ {
			if raw = host1("user", strings.Repeat("x", chars), h.now.UnixMilli(), nil); message.Tokens(raw) == n {
				return raw
			}
		}
	}
	for _, c := range []struct {
		budget, at int
		cause      string
	}{{20_000, 15_000, "budget"}, {1_000_000, 30_000, "tokens"}} {
		h := newHost(t)
		h.budget = c.budget
		h.assemble("ok")
		h.ingest(exactly(h, c.at-100))
		if l := h.archives(); len(l) != 0 {
			t.Fatalf("%d tokens below %d, and %+v", h.state().OpenTokens, c.at, l)
		}
		h.tick()
		h.ingest(exactly(h, 100))
		if l := h.archives(); len(l) != 1 || l[0].Cause != c.cause {
			t.Fatalf("at %d tokens: %+v", c.at, l)
		}
	}
}

package e2e

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// TestRecallStands: a recall stands just before the prompt, stays there in later requests, is not repeated and never captured; a greeting
// gets none (000-060 to 000-066, 000-160, I10).
func TestRecallStands(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	newTalk(t, ctx, w, "stands-told").say("The accordion of uncle Fjodor lies in the attic of the house in Tromsdal.")
	s := newTalk(t, ctx, w, "stands")
	if r := s.first("Hello!"); recallForm(r) != "" || recalls(r) != 0 {
		t.Errorf("a greeting got a recall:\n%s", recalled(r))
	}
	const question = "Where does the accordion of uncle Fjodor lie?"
	r := s.first(question)
	if recallForm(r) != "tool" || !strings.Contains(recalled(r), "Tromsdal") {
		t.Fatalf("no recall of the fact before the prompt: %q\n%s", recallForm(r), short(recalled(r)))
	}
	at, text := r.PromptIndex-4, recalled(r)
	for _, next := range []string{"Thank you.", "I bought bread and cheese on the way home.", question} {
		r = s.first(next)
		if !strings.Contains(r.Messages[at].Text, recallLine) || r.Messages[at+2].Text != text || !strings.Contains(r.Messages[at+4].Text, question) {
			t.Errorf("at %q the recall does not stand where it stood:\n%s", next, short(r.Messages[at].Text))
		}
		if strings.Contains(recalled(r), "Tromsdal") {
			t.Errorf("at %q the fact was recalled again:\n%s", next, short(recalled(r)))
		}
	}
	prefixes(t, s.requests)
	s.commit()
	nothingOfOurs(t, s.turns())
	if x := s.explain(); x.Session != s.session().ID || x.RawFrom == 0 {
		t.Errorf("the packet behind the newest assemble is missing: %+v", x)
	}
	found, err := w.Client.Find(ctx, world.Identity, skald.FindQuery{Query: "Looked up for my next message: earlier talk"})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range found.Hits {
		if strings.Contains(h.Text, recallLine) || strings.Contains(h.Text, recallMark) {
			t.Errorf("what was injected can be found at %s: %s", h.URI, h.Text)
		}
	}
}

// nothingOfOurs: no stored turn holds what the engine put into a request.
func nothingOfOurs(t *testing.T, turns []skald.TurnInfo) {
	t.Helper()
	for _, turn := range turns {
		for _, own := range []string{"[skald] ", recallMark, `"` + ackLine + `"`} {
			if bytes.Contains(turn.Raw, []byte(own)) {
				t.Errorf("turn %d holds %q: %s", turn.Envelope.Sequence, own, short(string(turn.Raw)))
			}
		}
	}
}

// memories lists the URIs of the stored memories whose text contains the word.
func memories(t *testing.T, c *talk, word string) (list []string) {
	t.Helper()
	for _, root := range []string{"viking://~/memories", "viking://agent/memories"} {
		files, err := c.w.Client.List(c.ctx, world.Identity, root, 4)
		if skald.KindOf(err) == skald.KindNotFound {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Dir {
				continue
			}
			text, err := c.w.Client.Read(c.ctx, world.Identity, string(f.URI))
			if err == nil && strings.Contains(text, word) {
				list = append(list, string(f.URI))
			}
		}
	}
	return list
}

// TestIdenticalTurns: 20 equal turns, each with a commit after some, are all stored and make one memory, not twenty (I2, 000-093).
func TestIdenticalTurns(t *testing.T) {
	w, ctx := shared(t), deadline(t, 6*time.Minute)
	s := newTalk(t, ctx, w, "identical")
	const said = "Remember that the password hint of the Quillfeather account is saffron."
	grown := 0
	for i := range 20 {
		s.say(said)
		if i%5 == 4 {
			s.commit()
			n := len(memories(t, s, "Quillfeather"))
			if grown != 0 && n > grown {
				t.Errorf("after %d equal turns there are %d memories, before %d", i+1, n, grown)
			}
			grown = n
		}
	}
	if grown != 1 {
		t.Errorf("%d memories of one sentence: %v", grown, memories(t, s, "Quillfeather"))
	}
	if n := len(s.turns()); n != 40 {
		t.Errorf("%d turns stored, want 40", n)
	}
	prefixes(t, s.requests)
	nothingOfOurs(t, s.turns())
}

// TestModelCalls: the model calls the tools itself; memory_recall_auto answers like the injected pair, memory_store is found at once in a
// new session, memory_expand opens a memory (000-120 to 000-124, 000-181).
func TestModelCalls(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "calls")
	s.say("The ferry to Hrossey leaves from pier eleven at ten past six.")
	other := newTalk(t, ctx, w, "calls-other")
	for _, tool := range []string{"memory_recall_auto", "memory_recall"} {
		if got := other.toolResult(tool, map[string]any{"query": "ferry to Hrossey"}); !strings.Contains(got, "pier eleven") || !strings.Contains(got, `"memories"`) {
			t.Errorf("%s answered:\n%s", tool, short(got))
		}
	}
	stored := other.toolResult("memory_store", map[string]any{"text": "The harbour master of Hrossey is called Thorfinn Meldrum.", "type": "entities"})
	memory := uri(stored, "/memories/")
	if memory == "" {
		t.Fatalf("memory_store answered: %s", stored)
	}
	fresh := newTalk(t, ctx, w, "calls-fresh")
	if r := fresh.first("Who is the harbour master of Hrossey?"); !strings.Contains(recalled(r), "Thorfinn Meldrum") {
		t.Errorf("a new session does not recall what was stored a moment ago; form %q:\n%s", recallForm(r), short(recalled(r)))
	}
	if got := fresh.toolResult("memory_expand", map[string]any{"uri": memory}); !strings.Contains(got, "Thorfinn Meldrum") || !strings.Contains(got, "memory_store") && !strings.Contains(got, "turns, quoted as data") {
		t.Errorf("memory_expand of the memory answered:\n%s", short(got))
	}
	unrefused(t, append(other.requests, fresh.requests...))
}

// TestForget: what memory_forget took is found nowhere, in no later request, and stays away after the next commit (design, "Forgetting").
func TestForget(t *testing.T) {
	w, ctx := shared(t), deadline(t, 6*time.Minute)
	s := newTalk(t, ctx, w, "forget")
	s.say("Remember that my locker at the Velodrome has the code 8264-Kestrel.")
	s.say("We talked about the harvest festival as well.")
	s.commit()
	reader := newTalk(t, ctx, w, "forget-reader")
	const question = "Which code does my locker at the Velodrome have?"
	if r := reader.first(question); !r.Contains("8264-Kestrel") {
		t.Fatalf("the fact is not recalled before it is forgotten: %q\n%s", recallForm(r), short(recalled(r)))
	}
	list := memories(t, s, "8264-Kestrel")
	if len(list) == 0 {
		t.Fatal("no memory was extracted")
	}
	for _, m := range list {
		if got := s.toolResult("memory_forget", map[string]any{"uri": m}); !strings.Contains(got, "Forgotten") {
			t.Errorf("memory_forget of %s answered: %s", m, got)
		}
	}
	gone := func(when string) {
		t.Helper()
		if left := memories(t, s, "8264-Kestrel"); len(left) > 0 {
			t.Errorf("%s: memories %v still say it", when, left)
		}
		for _, q := range []string{question, "8264-Kestrel", "locker Velodrome"} {
			found, err := w.Client.Find(ctx, world.Identity, skald.FindQuery{Query: q})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range found.Hits {
				if strings.Contains(h.Text, "8264-Kestrel") {
					t.Errorf("%s: search for %q finds %s: %s", when, q, h.URI, h.Text)
				}
			}
		}
		fresh := newTalk(t, ctx, w, "forget-new-"+strings.ReplaceAll(when, " ", "-"))
		if r := fresh.first(question); r.Contains("8264-Kestrel") {
			t.Errorf("%s: a new session recalls it:\n%s", when, short(recalled(r)))
		}
		got := fresh.toolResult("memory_recall", map[string]any{"query": "locker at the Velodrome code"})
		if strings.Contains(got, "8264-Kestrel") {
			t.Errorf("%s: memory_recall finds it:\n%s", when, short(got))
		}
		if r := reader.first("I went cycling today, " + when + "."); r.Contains("8264-Kestrel") {
			t.Errorf("%s: the session that had recalled it still shows it", when)
		}
	}
	gone("at once")
	s.say("The festival was moved to October.")
	s.commit()
	quiet(t, ctx, w)
	gone("after the next commit")
	unrefused(t, append(s.requests, reader.requests...))
}

// TestBeforeCompaction: a new session answers from before a compaction, and memory_expand leads from the summary's and from a memory's URI
// back to the turns (000-080 to 000-087, 000-121 to 000-123, 000-180).
func TestBeforeCompaction(t *testing.T) {
	w, ctx := shared(t), deadline(t, 6*time.Minute)
	s := newTalk(t, ctx, w, "compacted")
	const said = "We decided to rent the barn of Mr. Abernethy for the workshop on 14 May, order number AB-77120."
	s.say(said)
	s.say("Remember that I prefer the early train at 06:48 to Inverlael.")
	for _, text := range []string{"The chairs are in the van.", "The beamer needs a longer cable.", "Lunch comes from the bakery.", "The lamps are borrowed.", "The doors open at nine."} {
		s.say(text + " LONG 30")
	}
	s.rpc("sessions.compact")
	after := s.first("Is everything ready then?")
	info := s.session()
	if info.Published < 2 || info.Archives == 0 {
		t.Fatalf("nothing was published: %+v", info)
	}
	head := after.Messages[1]
	if head.Role != "user" || !strings.HasPrefix(strings.TrimSpace(afterStamp(head.Text)), "[skald] ") || !strings.Contains(head.Text, "AB-77120") {
		t.Errorf("the first message is not the summary: %s", short(head.Text))
	}
	fresh := newTalk(t, ctx, w, "compacted-new")
	if r := fresh.first("What is the order number for the barn of Mr. Abernethy?"); !strings.Contains(recalled(r), "AB-77120") {
		t.Errorf("a new session does not recall what was said before the compaction; form %q:\n%s", recallForm(r), short(recalled(r)))
	}
	summary := uri(head.Text, "/history/archive_")
	if summary == "" {
		t.Fatalf("the summary names no archive: %s", head.Text)
	}
	for _, who := range []*talk{s, fresh} {
		if got := who.toolResult("memory_expand", map[string]any{"uri": summary, "query": "barn of Mr. Abernethy"}); !strings.Contains(got, said) {
			t.Errorf("memory_expand(%s) answered:\n%s", summary, short(got))
		}
	}
	list := memories(t, s, "06:48")
	if len(list) == 0 {
		t.Fatal("no memory was extracted")
	}
	if got := fresh.toolResult("memory_expand", map[string]any{"uri": list[0]}); !strings.Contains(got, "Remember that I prefer the early train at 06:48") {
		t.Errorf("memory_expand(%s) answered:\n%s", list[0], short(got))
	}
	unrefused(t, append(s.requests, fresh.requests...))
}

// afterStamp is a text without the host's date before it.
func afterStamp(s string) string {
	if strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "[skald]") {
		if _, rest, ok := strings.Cut(s, "] "); ok {
			return rest
		}
	}
	return s
}

// TestNewEpoch: /new starts empty, and the old epoch is found by recall (000-190; design, "Reset").
func TestNewEpoch(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "reset")
	s.say("The seed potatoes of the variety Rooster came from the farm at Ballyhale.")
	s.say("I will plant them next week.")
	before := s.session()
	s.rpc("sessions.reset")
	r := s.first("The sky is clear over the hills tonight.")
	if r.Contains("plant them next week") || len(before.ID) == 0 {
		t.Errorf("the new epoch shows the old one's turns:\n%s", short(r.Messages[1].Text))
	}
	now := s.session()
	if now.ID != before.ID || now.Epoch != before.Epoch+1 || now.Archives != before.Archives+1 {
		t.Errorf("before the reset %+v, after it %+v: want the same session, the next epoch, the old one committed", before, now)
	}
	if r := s.first("From which farm did the seed potatoes of the variety Rooster come?"); !strings.Contains(recalled(r), "Ballyhale") {
		t.Errorf("the old epoch is not recalled; form %q:\n%s", recallForm(r), short(recalled(r)))
	}
	if n := len(s.turns()); n != 8 {
		t.Errorf("%d turns stored, want all 8 of both epochs", n)
	}
	prefixes(t, s.requests[len(s.requests)-2:])
}

// TestGroup: a group session recalls nothing of a direct one; the owner's direct session recalls the group's (I9).
func TestGroup(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	direct := newTalk(t, ctx, w, "group-direct")
	direct.say("Remember that my salary at Obsidian Works is 6,150 a month.")
	direct.commit()
	group := newTalk(t, ctx, w, "telegram:group:42")
	group.say("The members of the Larkspur club meet at the old weir on Fridays.")
	const secret = "What is the salary at Obsidian Works a month?"
	for _, r := range group.say(secret) {
		if r.Contains("6,150") {
			t.Errorf("the group was shown a direct session's content:\n%s", short(recalled(r)))
		}
	}
	for _, tool := range []string{"memory_recall", "memory_recall_auto"} {
		if got := group.toolResult(tool, map[string]any{"query": secret}); strings.Contains(got, "6,150") {
			t.Errorf("%s in the group found a direct session's content:\n%s", tool, short(got))
		}
	}
	for _, m := range append(memories(t, direct, "6,150"), string(direct.turns()[0].URI)) {
		if got := group.toolResult("memory_expand", map[string]any{"uri": m}); strings.Contains(got, "6,150") {
			t.Errorf("memory_expand(%s) in the group showed a direct session's content:\n%s", m, short(got))
		}
	}
	if s := group.session(); !strings.HasPrefix(string(s.Audience), "group:") {
		t.Errorf("the audience of the group session is %q", s.Audience)
	}
	other := newTalk(t, ctx, w, "telegram:group:43")
	if r := other.first("Where do the members of the Larkspur club meet?"); r.Contains("old weir") {
		t.Errorf("another group recalls it:\n%s", short(recalled(r)))
	}
	fresh := newTalk(t, ctx, w, "group-reader")
	if r := fresh.first("Where do the members of the Larkspur club meet?"); !strings.Contains(recalled(r), "old weir") {
		t.Errorf("the owner's direct session does not recall the group's; form %q:\n%s", recallForm(r), short(recalled(r)))
	}
	if r := fresh.first(secret); !strings.Contains(recalled(r), "6,150") {
		t.Errorf("the owner's direct session does not recall a direct one; form %q:\n%s", recallForm(r), short(recalled(r)))
	}
}

// TestToolSearch: behind the host's tool search the recall has the shape of a call that works, and the model reaches our tools through
// tool_call (docs/openclaw.md, 30 to 32).
func TestToolSearch(t *testing.T) {
	w, ctx := full(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "search")
	s.say("The telescope of the Marchmont school stands under the third dome.")
	r := newTalk(t, ctx, w, "search-new").first("Under which dome does the telescope of the Marchmont school stand?")
	if slices.Contains(r.Tools, "memory_recall_auto") || !slices.Contains(r.Tools, "tool_call") {
		t.Fatalf("tool search is not on: %v", r.Tools)
	}
	call := searchedCall(r)
	if call == nil || !strings.Contains(string(call.Args), `"memory_recall_auto"`) || !r.Contains("third dome") {
		var before []string
		for _, m := range r.Messages[max(0, r.PromptIndex-4):max(0, r.PromptIndex)] {
			before = append(before, short(string(m.Raw)))
		}
		t.Errorf("the recall is not a tool_call before the prompt: %+v; there stand:\n%s", call, strings.Join(before, "\n"))
	}
	c := newTalk(t, ctx, w, "search-calls")
	if call != nil { // the model repeats what it saw
		c.say("CALL tool_call " + string(call.Args))
		if got := results(c.requests[len(c.requests)-1]); len(got) == 0 || !strings.Contains(got[0], "third dome") {
			t.Errorf("the injected call does not work when the model repeats it: %v", got)
		}
	}
	told := s.turns()
	got := c.toolResult("tool_call", map[string]any{"id": "memory_expand", "args": map[string]any{"uri": told[0].URI}})
	if !strings.Contains(got, "under the third dome") {
		t.Errorf("memory_expand through tool_call answered:\n%s", short(got))
	}
	unrefused(t, append(c.requests, r))
}

// searchedCall is the recall's call before the prompt.
func searchedCall(r scripted.Request) *scripted.ToolCall {
	n := r.PromptIndex
	if n < 4 || len(r.Messages[n-3].ToolCalls) != 1 || r.Messages[n-3].ToolCalls[0].Name != "tool_call" ||
		!strings.Contains(r.Messages[n-4].Text, recallLine) || r.Messages[n-1].Text != ackLine {
		return nil
	}
	return &r.Messages[n-3].ToolCalls[0]
}

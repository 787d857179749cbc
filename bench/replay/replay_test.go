package replay

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
)

// talk is a conversation of three exchanges: plain, with a tool, and with a run of two user messages.
const talk = `{"role":"user","content":"Our port is 5433.","timestamp":1772410000000}
{"role":"assistant","content":[{"type":"text","text":"Noted."}],"stopReason":"stop","timestamp":1772410001000}
{"role":"user","content":"List the files","timestamp":1772410060000}
{"role":"assistant","content":[{"type":"toolCall","id":"call_1","name":"bash","arguments":{"command":"ls"}}],"stopReason":"toolUse","timestamp":1772410061000}
{"role":"toolResult","toolCallId":"call_1","toolName":"bash","content":[{"type":"text","text":"README.md"}],"isError":false,"timestamp":1772410062000}
{"role":"assistant","content":[{"type":"text","text":"README.md"}],"stopReason":"stop","timestamp":1772410063000}
{"role":"user","content":"ok","timestamp":1772410120000}
{"role":"user","content":"Which port?","timestamp":1772410121000}
{"role":"assistant","content":[{"type":"text","text":"5433."}],"stopReason":"stop","timestamp":1772410122000}
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, text string) []json.RawMessage {
	t.Helper()
	list, err := Load(write(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func target(t *testing.T) Target {
	t.Helper()
	var now time.Time
	e, err := engine.New(memory.New(), engine.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return Target{Engine: e, Inspector: e, Settle: e.RunJobs, SetClock: func(at time.Time) { now = at }}
}

func TestPlay(t *testing.T) {
	t.Parallel()
	ctx, to, messages := context.Background(), target(t), load(t, talk)
	o := Options{Identity: skald.DefaultIdentity, Session: "s1", Budget: 50_000, Compact: CompactAuto}
	r, err := Play(ctx, to, messages, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stored != 9 || r.Duplicates != 0 || r.Assembles != 4 || r.MaxOverBudget != 0 || r.BrokenPairs != 0 || r.Refused != 0 {
		t.Errorf("report: %+v", r)
	}
	if r.PrefixShare != 1 || r.CacheableShare.LongestPrefix <= r.CacheableShare.Mark || r.CacheableShare.LongestPrefix >= 1 {
		t.Errorf("shares: %v %v", r.PrefixShare, r.CacheableShare)
	}
	again, err := Play(ctx, to, messages, o)
	if err != nil || again.Stored != 0 || again.Duplicates != 9 || again.Assembles != 0 {
		t.Errorf("second replay: %+v, %v", again, err)
	}
}

// TestPlayContinues: a conversation whose beginning is stored goes on behind it, under the same keys.
func TestPlayContinues(t *testing.T) {
	t.Parallel()
	ctx, to, messages := context.Background(), target(t), load(t, talk)
	o := Options{Identity: skald.DefaultIdentity, Session: "s1", Budget: 50_000, Compact: CompactAuto}
	if _, err := Play(ctx, to, messages[:2], o); err != nil {
		t.Fatal(err)
	}
	r, err := Play(ctx, to, messages, o)
	if err != nil || r.Stored != 7 || r.Duplicates != 2 || r.Assembles != 3 {
		t.Errorf("report: %+v, %v", r, err)
	}
}

// TestTinyBudget: an assemble that is refused is no assemble.
func TestTinyBudget(t *testing.T) {
	t.Parallel()
	o := Options{Identity: skald.DefaultIdentity, Session: "s1", Budget: 10, Compact: CompactNever}
	r, err := Play(context.Background(), target(t), load(t, talk), o)
	if err != nil || r.Assembles != 0 || r.Refused != 4 || r.Stored != 9 || r.MaxOverBudget != 0 {
		t.Errorf("report: %+v, %v", r, err)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	list, err := split(load(t, talk))
	if err != nil || len(list) != 3 {
		t.Fatalf("%d exchanges, %v", len(list), err)
	}
	if x := list[2]; x.start != 6 || x.users != 2 || x.prompt() != "ok\n\nWhich port?" || len(x.entries) != 3 {
		t.Errorf("third exchange: %+v", x)
	}
	if got, want := list[1].pending(3), message.Tokens(list[1].entries[0].raw)+message.Tokens(list[1].entries[1].raw)+message.Tokens(list[1].entries[2].raw); got != want {
		t.Errorf("pending %d, want %d", got, want)
	}
}

func TestLoadNamesTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "no message",
		`{"role":"user"` + "\n":            "talk.jsonl:1",
		talk + "[]\n":                      "talk.jsonl:10",
		talk + `{"role":""}`:               "no role",
		talk + "{\"role\":\"user\xff\"}\n": "UTF-8",
		"\n\nnull\n":                       "talk.jsonl:3",
	} {
		_, err := Load(write(t, text))
		if skald.KindOf(err) != skald.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if _, err := Load("nowhere.jsonl"); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("missing file: %v", err)
	}
}

func raws(texts ...string) (list []json.RawMessage) {
	for _, text := range texts {
		list = append(list, message.User(text, 1))
	}
	return list
}

// TestWatch measures requests that were made by hand.
func TestWatch(t *testing.T) {
	t.Parallel()
	var w watch
	var r Report
	w.request(request{before: nil, pending: raws("p1"), users: 1, projection: "a", first: true, budget: 1000}, &r)
	w.request(request{before: raws("p1", "r1"), pending: raws("p2"), users: 1, projection: "a", first: true, budget: 1000}, &r)
	w.request(request{before: raws("XX", "r1"), pending: raws("p3"), users: 1, projection: "a", first: true, budget: 10}, &r)
	w.request(request{before: raws("YY"), pending: raws("p4"), users: 1, projection: "b", first: true, budget: 1000}, &r)
	w.close(&r)
	if r.Publications != 1 || r.MaxOverBudget != sum(raws("XX", "r1", "p3"))-10 {
		t.Errorf("report: %+v", r)
	}
	if r.PrefixShare != 0 { // one pair counts: the first request had nothing before its prompt, the last is behind a publication
		t.Errorf("prefix share %v", r.PrefixShare)
	}
	want := float64(sum(raws("p1"))) / float64(sum(raws("p1", "p1", "r1", "p2", "XX", "r1", "p3", "YY", "p4")))
	if r.CacheableShare.Mark != want || r.CacheableShare.LongestPrefix != want {
		t.Errorf("cacheable %+v, want %v", r.CacheableShare, want)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stored, messages []json.RawMessage
		want             int
	}{
		{nil, raws("a"), 0},
		{raws("a", "b"), raws("a", "b", "c"), 0},
		{raws("a", "b"), raws("b", "c"), 1},
		{raws("a", "b", "c"), raws("b"), 1},
		{raws("a", "b"), raws("c"), 2},
	} {
		if got := overlap(c.stored, c.messages); got != c.want {
			t.Errorf("overlap(%s, %s) = %d, want %d", c.stored, c.messages, got, c.want)
		}
	}
}

// TestBudgetsHold: whatever the budget, no request is larger, and calls stay with their results (I6, TOK-06).
func TestBudgetsHold(t *testing.T) {
	t.Parallel()
	messages := longTalk()
	for _, budget := range []int{300, 1000, 3000, 9000, 100_000} {
		o := Options{Identity: skald.DefaultIdentity, Session: "s1", Budget: budget, Compact: CompactAuto}
		r, err := Play(context.Background(), target(t), messages, o)
		if err != nil || r.MaxOverBudget != 0 || r.BrokenPairs != 0 || r.Stored != len(messages) {
			t.Errorf("budget %d: %+v, %v", budget, r, err)
		}
		if budget >= 9000 && r.Refused > 0 {
			t.Errorf("budget %d: %d assembles were refused", budget, r.Refused)
		}
	}
}

// longTalk has thirty exchanges with long tool results, some in Chinese.
func longTalk() (list []json.RawMessage) {
	at := int64(1772410000000)
	for i := range 30 {
		id := "call" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		at += 60_000
		list = append(list, message.User(strings.Repeat("question 问题 ", 5+i), at), message.AssistantCall(id, "bash", nil, at+1),
			message.ToolResult(id, "bash", strings.Repeat("line of output\n", 20*(i%7)), at+2), message.Assistant(strings.Repeat("answer ", 30), at+3))
	}
	return list
}

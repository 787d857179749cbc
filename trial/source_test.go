package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
)

// talk writes a conversation by hand.
type talk struct {
	origin string
	at     time.Time
	list   []json.RawMessage
	calls  int
}

func newTalk(origin string) *talk {
	return &talk{origin: origin, at: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
}

func (t *talk) next() int64 {
	t.at = t.at.Add(time.Minute)
	return t.at.UnixMilli()
}

func (t *talk) user(text string) *talk {
	t.list = append(t.list, message.User(text, t.next()))
	return t
}

func (t *talk) agent(text string) *talk {
	raw := fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%s}],"provider":"p","model":"m","stopReason":"stop","timestamp":%d}`, quoteJSON(text), t.next())
	t.list = append(t.list, json.RawMessage(raw))
	return t
}

// tool adds a call and its result.
func (t *talk) tool(name, args, result string) *talk {
	t.calls++
	id := fmt.Sprintf("call%d", t.calls)
	raw := fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":%q,"arguments":%s}],"provider":"p","model":"m","stopReason":"toolUse","timestamp":%d}`,
		id, name, args, t.next())
	t.list = append(t.list, json.RawMessage(raw), message.ToolResult(id, name, result, t.next()))
	return t
}

// filler adds exchanges of about 120 tokens each about other things.
func (t *talk) filler(n int) *talk {
	things := []string{"tulips", "violins", "glaciers", "pottery", "lighthouses", "beetles", "kites", "bread"}
	for i := range n {
		thing := things[i%len(things)]
		t.user(fmt.Sprintf("Tell me story %s about %s, please", word(i), thing))
		t.agent(fmt.Sprintf("Here is story %s about %s. It begins in a small town where nobody had ever thought about %s before, and everybody "+
			"was rather surprised when the first ones came along the river one morning in spring, quite early.", word(i), thing, thing))
	}
	return t
}

// shelves adds exchanges of about a thousand tokens, each stating so much that no summary holds all of it.
func (t *talk) shelves(n int) *talk {
	for i := range n {
		var b strings.Builder
		for k := range 40 {
			fmt.Fprintf(&b, "The %s shelf of the archive holds the box %d with letters from the years before the war. ", word(i*40+k), 4000+7*(i*40+k))
		}
		t.user("ok").agent(b.String())
	}
	return t
}

// word makes a different word of every number.
func word(n int) string {
	s := ""
	for n = n + 26; n > 0; n /= 26 {
		s += string(rune('a' + n%26))
	}
	return "story" + s
}

func quoteJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// talks is a source in memory.
type talks []*talk

func (talks) Name() string { return "memory" }

func (list talks) Conversations(context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, t := range list {
			if !yield(t.conversation(), nil) {
				return
			}
		}
	}
}

func (t *talk) conversation() ingest.Conversation {
	return ingest.Conversation{Origin: t.origin, Items: func(yield func(ingest.Item, error) bool) {
		for i, raw := range t.list {
			if !yield(ingest.Item{Entry: skald.Entry{EntryID: fmt.Sprint(i), Message: raw}}, nil) {
				return
			}
		}
	}}
}

func ways(t testing.TB) Ways {
	t.Helper()
	return Ways{Legacy: way(t, "legacy"), Skald: way(t, "viking")}
}

func way(t testing.TB, strategy string) replay.Target {
	t.Helper()
	var now time.Time
	e, err := engine.New(memory.New(), engine.Options{Strategy: strategy, Clock: func() time.Time { return now }, Recall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return replay.Target{Engine: e, Inspector: e, Settle: e.RunJobs, SetClock: func(at time.Time) { now = at }}
}

func run(t testing.TB, o Options, list ...*talk) Report {
	t.Helper()
	o.Identity = skald.DefaultIdentity
	r, err := Run(context.Background(), ways(t), talks(list), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

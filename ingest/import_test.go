package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/jsonl"
	"github.com/skald-engine/skald/store/memory"
)

// TestMain keeps the property test short; -rapid.checks overrules it.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		_ = flag.Set("rapid.checks", "10")
	}
	goleak.VerifyTestMain(m)
}

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// talks is a source in memory.
type talks []ingest.Conversation

func (talks) Name() string { return "talks" }

func (t talks) Conversations(context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, c := range t {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// talk is a conversation of n messages, some of them equal.
func talk(session string, n int, live bool) ingest.Conversation {
	return ingest.Conversation{Origin: session, Session: skald.SessionAddress{SessionID: session, AgentID: "main"},
		Started: monday, Live: live, Items: func(yield func(ingest.Item, error) bool) {
			for i := range n {
				role := []string{"user", "assistant"}[i%2]
				at := monday.Add(time.Duration(i) * time.Minute).UnixMilli()
				raw := fmt.Sprintf(`{"role":%q,"content":"word%d of %s","timestamp":%d}`, role, i%7, session, at)
				item := ingest.Item{Entry: skald.Entry{EntryID: fmt.Sprint(session, "-", i), Message: json.RawMessage(raw)}}
				if i%11 == 10 {
					item = ingest.Item{Skipped: "odd", Where: fmt.Sprint(session, ":", i)}
				}
				if !yield(item, nil) {
					return
				}
			}
		}}
}

func engineOn(t interface{ Fatal(...any) }, store skald.Store) *engine.Engine {
	e, err := engine.New(store, engine.Options{Clock: func() time.Time { return monday.AddDate(1, 0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// breaking is an engine that is cut off at one of its calls: the caller is gone, or it fails before or after the work is done.
type breaking struct {
	*engine.Engine
	at     int
	how    string
	cancel context.CancelFunc
}

var errBroken = errors.New("the machine is on fire")

func (b *breaking) Reconcile(ctx context.Context, r skald.ReconcileRequest) (skald.ReconcileResult, error) {
	b.at--
	if b.at != 0 {
		return b.Engine.Reconcile(ctx, r)
	}
	switch b.how {
	case "cancelled":
		b.cancel()
	case "before":
		return skald.ReconcileResult{}, errBroken
	case "after":
		if _, err := b.Engine.Reconcile(ctx, r); err != nil {
			return skald.ReconcileResult{}, err
		}
		return skald.ReconcileResult{}, errBroken
	}
	return b.Engine.Reconcile(ctx, r)
}

// contents is all that an import stored: each session's turns, with or without the ids of their exchanges.
func contents(t interface{ Fatal(...any) }, store skald.Store, withoutIDs bool) map[string][]string {
	out := map[string][]string{}
	err := store.View(context.Background(), func(tx skald.Tx) error {
		sessions, err := tx.Sessions(skald.SessionQuery{})
		for _, s := range sessions {
			turns, err := tx.Turns(s.Ref, skald.TurnQuery{})
			if err != nil {
				return err
			}
			out[s.Ref.ID] = append(out[s.Ref.ID], fmt.Sprint(s.Created.UTC(), s.Updated.UTC(), s.LastSeq))
			for _, turn := range turns {
				if withoutIDs {
					turn.TurnID = ""
				}
				line := fmt.Sprintln(turn.Seq, turn.EntryID, turn.Role, turn.Time, turn.TurnID, turn.Epoch, turn.Origin, string(turn.Raw))
				out[s.Ref.ID] = append(out[s.Ref.ID], line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An import that is interrupted anywhere, any number of times, and repeated, leaves what an uninterrupted one leaves.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var source talks
		for i := range rapid.IntRange(1, 3).Draw(t, "conversations") {
			n := rapid.SampledFrom([]int{0, 1, 30, 2001, 2600}).Draw(t, "messages")
			source = append(source, talk(fmt.Sprint("s", i), n, rapid.Bool().Draw(t, "live")))
		}
		o := ingest.Options{Limit: rapid.SampledFrom([]int{0, 0, 700}).Draw(t, "limit")}
		store := memory.New()
		for range rapid.IntRange(0, 4).Draw(t, "interruptions") {
			ctx, cancel := context.WithCancel(context.Background())
			e := engineOn(t, store) // a new process
			b := &breaking{Engine: e, at: rapid.IntRange(1, 4).Draw(t, "call"), cancel: cancel,
				how: rapid.SampledFrom([]string{"cancelled", "before", "after"}).Draw(t, "how")}
			_, err := ingest.Import(ctx, b, e, source, o)
			if err != nil && !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancel()
		}
		finish(t, store, source)

		whole := memory.New()
		finish(t, whole, source)
		cut := o.Limit > 0 // the limit cuts exchanges, whose ids are made of where they begin
		got, want := contents(t, store, cut), contents(t, whole, cut)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-uninterrupted +interrupted)\n%s", diff)
		}
		again := finish(t, store, source)
		if again.Imported != 0 || again.Known != again.Messages {
			t.Fatalf("a finished import imports %d of %d, %d known", again.Imported, again.Messages, again.Known)
		}
	})
}

func finish(t interface{ Fatal(...any) }, store skald.Store, source ingest.Source) ingest.Report {
	e := engineOn(t, store)
	r, err := ingest.Import(context.Background(), e, e, source, ingest.Options{})
	if err != nil || !r.Complete {
		t.Fatal(r, err)
	}
	return r
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	store := memory.New()
	finish(t, store, talks{talk("a", 40, false)})
	before := contents(t, store, false)
	e := engineOn(t, store)
	source := talks{talk("a", 60, false), talk("b", 5, true)}
	r, err := ingest.Import(t.Context(), e, e, source, ingest.Options{DryRun: true})
	if err != nil || r.Imported != 18+5 || r.Known != 37 || r.Skipped != 5 {
		t.Errorf("%d imported, %d known, %d skipped, %v", r.Imported, r.Known, r.Skipped, err)
	}
	if diff := cmp.Diff(before, contents(t, store, false)); diff != "" {
		t.Errorf("a dry run wrote:\n%s", diff)
	}
	if real := finish(t, store, source); real.Imported != r.Imported || real.Known != r.Known {
		t.Errorf("the dry run promised %d, %d were imported", r.Imported, real.Imported)
	}
}

// Times are the conversation's, what is no live session is archived, and it is found at once.
func TestTimesCommitsAndSearch(t *testing.T) {
	t.Parallel()
	store := memory.New()
	finish(t, store, talks{talk("past", 30, false), talk("going-on", 30, true)})
	e := engineOn(t, store)
	list, err := e.ListSessions(t.Context(), skald.DefaultIdentity, 0)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, s := range list {
		if !s.Created.Equal(monday) || !s.Updated.Equal(monday.Add(29*time.Minute)) {
			t.Errorf("%s: %v to %v", s.ID, s.Created, s.Updated)
		}
		if archived := s.Open == 0; archived != (s.ID == "past") {
			t.Errorf("%s has %d open turns", s.ID, s.Open)
		}
	}
	found, err := e.Find(t.Context(), skald.DefaultIdentity, skald.FindQuery{Query: "word3 of past"})
	if err != nil || len(found.Hits) == 0 {
		t.Errorf("%+v, %v", found.Hits, err)
	}
}

func TestSinceAndSkips(t *testing.T) {
	t.Parallel()
	e := engineOn(t, memory.New())
	r, err := ingest.Import(t.Context(), e, e, talks{talk("a", 30, false)}, ingest.Options{Since: monday.Add(20 * time.Minute)})
	if err != nil || r.LeftOut != 19 || r.Imported != 9 || r.Skipped != 2 || r.Reasons["odd"] != 2 || r.Skips[0].Where != "a:10" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A message that no daemon could read is left out and told of: it does not stand in the way of all that comes after it.
func TestDeepMessage(t *testing.T) {
	t.Parallel()
	c := talk("a", 3, false)
	items := c.Items
	c.Items = func(yield func(ingest.Item, error) bool) {
		raw := `{"role":"user","content":` + strings.Repeat("[", 9_950) + strings.Repeat("]", 9_950) + `}`
		if yield(ingest.Item{Entry: skald.Entry{EntryID: "deep", Message: json.RawMessage(raw)}, Where: "a:0"}, nil) {
			items(yield)
		}
	}
	e := engineOn(t, memory.New())
	r, err := ingest.Import(t.Context(), e, e, talks{c}, ingest.Options{})
	if err != nil || r.Imported != 3 || r.Skipped != 1 || !strings.Contains(r.Skips[0].Reason, "stand in each other") {
		t.Errorf("%+v, %v", r, err)
	}
}

// Two sources may fill one session; each knows its own messages again.
func TestTwoSourcesOneSession(t *testing.T) {
	t.Parallel()
	store := memory.New()
	e := engineOn(t, store)
	for range 2 {
		for _, source := range []talks{{talk("a", 30, false)}, {talk("b", 20, true)}} {
			if _, err := ingest.Import(t.Context(), e, e, source, ingest.Options{Session: "both"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all := contents(t, store, false); len(all) != 1 || len(all["both"]) != 1+28+19 {
		t.Errorf("%d sessions, %d turns", len(all), len(all["both"])-1)
	}
}

// A conversation that cannot be read to its end keeps what came before, and does not keep the others waiting.
func TestBrokenConversation(t *testing.T) {
	t.Parallel()
	broken := talk("broken", 10, false)
	items := broken.Items
	broken.Items = func(yield func(ingest.Item, error) bool) {
		for item := range items {
			if !yield(item, nil) {
				return
			}
		}
		yield(ingest.Item{}, errors.New("the disk has a hole"))
	}
	e := engineOn(t, memory.New())
	r, err := ingest.Import(t.Context(), e, e, talks{broken, talk("good", 10, false)}, ingest.Options{})
	if err != nil || r.Imported != 20 || !strings.Contains(r.Conversations[0].Fault, "hole") || r.Conversations[1].Imported != 10 || r.Skipped != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A file that grew brings its new lines only, and one whose start was changed brings what changed.
func TestGrownFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	e := engineOn(t, memory.New())
	text := ""
	line := func(i int) string { return fmt.Sprintf(`{"role":"user","content":"line %d"}`+"\n", i%3) }
	for i, want := range []int{4, 3, 0} {
		if i < 2 {
			for n := range 4 - i {
				text += line(n)
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := importFile(t, e, path); r.Imported != want {
			t.Errorf("run %d imported %d, want %d", i, r.Imported, want)
		}
	}
	between := line(0) + `{"role":"user","content":"put between"}` + "\n" + text[len(line(0)):]
	if err := os.WriteFile(path, []byte(between), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := importFile(t, e, path); r.Imported != 1 || r.Known != 7 {
		t.Errorf("after a line was put between: %d imported, %d known", r.Imported, r.Known)
	}
}

func importFile(t *testing.T, e *engine.Engine, path string) ingest.Report {
	t.Helper()
	source, err := jsonl.Open(t.Context(), []string{path}, ingest.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ingest.Import(t.Context(), e, e, source, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

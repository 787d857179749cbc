package archive_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
)

// stub answers with the given summaries in turn, and records its input.
type stub struct {
	answers []func(archive.Input) (archive.Summary, error)
	inputs  []archive.Input
}

func (s *stub) Summarise(_ context.Context, in archive.Input) (archive.Summary, error) {
	s.inputs = append(s.inputs, in)
	fn := s.answers[min(len(s.inputs), len(s.answers))-1]
	return fn(in)
}

func answer(text string) func(archive.Input) (archive.Summary, error) {
	return func(in archive.Input) (archive.Summary, error) {
		l := skald.Line{Text: text, Speaker: "user", From: in.Turns[0].Seq, To: in.Turns[0].Seq}
		return archive.Summary{Abstract: text, Overview: []skald.Section{{Title: archive.SectionFacts, Lines: []skald.Line{l}}}}, nil
	}
}

// failing fails until it is told not to.
type failing struct{ err error }

func (f *failing) Extract(context.Context, skald.Tx, skald.SessionRef, string, skald.Archive, []archive.Turn, time.Time) ([]skald.URI, []byte, error) {
	return nil, []byte(`{"added":[]}`), f.err
}

func ten() []skald.Turn {
	var out []skald.Turn
	for range 5 {
		out = append(out, user("We decided to keep the database on port 5433 and never on 5432, since that one is taken."),
			assistant("The database listens on 5433 now; the configuration is in conf/db.toml and the service was restarted."))
	}
	return out
}

func TestARC01OneArchive(t *testing.T) {
	w := newWorld(t, ten()...)
	a, ok := w.close("turns")
	if !ok || a.From != 1 || a.To != 10 || a.State != skald.ArchiveClosed {
		t.Fatalf("got %+v, %v", a, ok)
	}
	if _, ok := w.close("turns"); ok {
		t.Error("a second commit found turns")
	}
	r := w.runner(nil, memory.Builtin{})
	if n := w.drain(r); n != 1 {
		t.Errorf("%d jobs ran", n)
	}
	if _, ok := w.close("compact"); ok {
		t.Error("a third commit found turns")
	}
	if n := w.drain(w.runner(nil, memory.Builtin{})); n != 0 {
		t.Errorf("%d jobs ran again", n)
	}
	a = w.archive(1)
	if a.State != skald.ArchiveDone || len(a.Overview) == 0 || a.Abstract == "" || len(a.Memories) == 0 || a.Diff == "" {
		t.Errorf("got %+v", a)
	}
	var c []skald.CompactCheckpoint
	w.update(func(tx skald.Tx) (err error) { c, err = tx.Checkpoints(ref); return err })
	if len(c) != 1 || c[0].SummaryURI == "" || len(c[0].ExtractedMemoryURIs) != len(a.Memories) {
		t.Errorf("checkpoints %+v", c)
	}
}

func TestCloseIgnoresWhatNeverCounts(t *testing.T) {
	hb := user("[heartbeat poll] read HEARTBEAT.md")
	hb.Purpose = skald.PurposeHeartbeat
	w := newWorld(t, hb)
	if _, ok := w.close("interval"); ok {
		t.Error("an automatic commit archived a heartbeat")
	}
	if _, ok := w.close("compact"); !ok {
		t.Error("a manual commit did not")
	}
	w.drain(w.runner(nil, memory.Builtin{}))
	if a := w.archive(1); len(a.Overview) != 0 || len(a.Memories) != 0 {
		t.Errorf("a heartbeat left %+v", a)
	}
}

func TestCloseParted(t *testing.T) {
	late := user("after the reset")
	late.Epoch = 2
	w := newWorld(t, user("before the reset"), late)
	w.update(func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		s.Epoch, s.EpochFrom = 2, 2
		return errors.Join(err, tx.PutSession(s))
	})
	a, _ := w.close("compact")
	if b := w.archive(1); a.Index != 2 || a.Epoch != 2 || b.Epoch != 1 || b.To != 1 {
		t.Errorf("got %+v and %+v", b, a)
	}
}

func TestCMP07BadSummariser(t *testing.T) {
	w := newWorld(t, ten()...)
	w.close("turns")
	long := strings.Repeat("copy of everything that was said ", 2000)
	s := &stub{answers: []func(archive.Input) (archive.Summary, error){
		answer(""), answer(long),
	}}
	w.drain(w.runner(s, nil))
	a := w.archive(1)
	if len(s.inputs) != 2 || !a.Fallback || a.State != skald.ArchiveDone || len(a.Overview) == 0 {
		t.Errorf("%d tries, %+v", len(s.inputs), a)
	}
	s = &stub{answers: []func(archive.Input) (archive.Summary, error){answer("The database is on 5433.")}}
	w.update(func(tx skald.Tx) error { return archive.Redo(tx, ref, 1, w.now) })
	w.drain(w.runner(s, nil))
	if a = w.archive(1); a.Fallback || a.Abstract != "The database is on 5433." {
		t.Errorf("redone: %+v", a)
	}
}

func TestCMP09Reasoning(t *testing.T) {
	turns := append([]skald.Turn{user("<relevant-memories>\nold recall\n</relevant-memories>\nWhich plan?"),
		call("memory_recall_auto", map[string]string{"query": "plan"}), result("memory_recall_auto", "recalled things"),
		assistant("<think>secret plan</think>Plan B is better.")}, ten()...)
	w := newWorld(t, turns...)
	w.close("turns")
	s := &stub{answers: []func(archive.Input) (archive.Summary, error){answer("<think>plan...</think>"), answer("<think>..</think>The user chose plan B.")}}
	w.drain(w.runner(s, nil))
	for _, turn := range s.inputs[0].Turns {
		for _, bad := range []string{"recall", "secret"} {
			if strings.Contains(turn.Text, bad) {
				t.Errorf("input holds %q", turn.Text)
			}
		}
	}
	if a := w.archive(1); a.Fallback || a.Overview[0].Lines[0].Text != "The user chose plan B." || len(s.inputs) != 2 {
		t.Errorf("%d tries, %+v", len(s.inputs), a)
	}
}

func TestFailureNeedsAttention(t *testing.T) {
	w := newWorld(t, ten()...)
	w.close("turns")
	e := &failing{err: errors.New("disk full")}
	r := w.runner(nil, e)
	for i := range archive.Attempts {
		if n := w.drain(r); n != 1 {
			t.Fatalf("attempt %d: %d jobs ran", i+1, n)
		}
		a := w.archive(1)
		if len(a.Overview) == 0 {
			t.Error("the summary step was lost")
		}
		if last := i == archive.Attempts-1; (a.State == skald.ArchiveFailed) != last {
			t.Errorf("attempt %d: state %s", i+1, a.State)
		}
		w.now = w.now.Add(time.Hour)
	}
	if s := w.session(); !strings.Contains(s.Attention, "disk full") || !strings.Contains(s.Attention, "/compact") {
		t.Errorf("attention: %q", s.Attention)
	}
	w.add(user("I want tea, not coffee."))
	if _, ok := w.close("turns"); !ok {
		t.Error("a failed archive blocks the next commit")
	}
	e.err = nil
	w.drain(r)
	if s := w.session(); s.Attention != "" || w.archive(1).State != skald.ArchiveDone || w.archive(2).State != skald.ArchiveDone {
		t.Errorf("not healed: %q, %s, %s", s.Attention, w.archive(1).State, w.archive(2).State)
	}
}

func TestManualCompactTriesAgain(t *testing.T) {
	w := newWorld(t, ten()...)
	w.close("turns")
	e := &failing{err: errors.New("no")}
	r := w.runner(nil, e)
	for range archive.Attempts {
		w.drain(r)
		w.now = w.now.Add(time.Hour)
	}
	w.close("compact")
	if s := w.session(); s.Attention != "" {
		t.Error("a manual compact leaves the attention")
	}
	e.err = nil
	if w.drain(r); w.archive(1).State != skald.ArchiveDone {
		t.Error("not tried again")
	}
}

// killed is a store that fails from the nth write on, as a killed process does.
type killed struct {
	skald.Store
	left int
}

func (k *killed) Update(ctx context.Context, fn func(skald.Tx) error) error {
	if k.left--; k.left < 0 {
		return errors.New("killed")
	}
	return k.Store.Update(ctx, fn)
}

func TestResumesAfterAnyStep(t *testing.T) {
	var want skald.Archive
	for n := range 8 {
		w := newWorld(t, ten()...)
		w.close("turns")
		k := &killed{Store: w.store, left: n}
		_, _ = archive.New(k, nil, memory.Builtin{}, func() time.Time { return w.now }, nil).RunOne(context.Background())
		r := w.runner(nil, memory.Builtin{})
		if err := r.ReleaseLeases(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.drain(r)
		a := w.archive(1)
		if n == 0 {
			want = a
		}
		if a.State != skald.ArchiveDone || archive.Text(a) != archive.Text(want) || a.Diff != want.Diff || len(a.Memories) != len(want.Memories) {
			t.Errorf("killed at write %d: %+v", n, a)
		}
	}
}

func TestARC05Parts(t *testing.T) {
	var turns []skald.Turn
	for range 40 {
		turns = append(turns, user(strings.Repeat("The quarterly report needs numbers from the north region. ", 300)), assistant("ok, noted"))
	}
	w := newWorld(t, turns...)
	w.close("tokens")
	s := &stub{answers: []func(archive.Input) (archive.Summary, error){answer("part")}}
	e := &counting{}
	w.drain(w.runner(s, e))
	if len(s.inputs) < 2 || e.calls != len(s.inputs) {
		t.Errorf("%d summaries, %d extractions", len(s.inputs), e.calls)
	}
	for _, in := range s.inputs {
		n := 0
		for _, turn := range in.Turns {
			n += turn.Tokens
		}
		if n > archive.PartSize {
			t.Errorf("a part has %d tokens", n)
		}
	}
	if a := w.archive(1); a.State != skald.ArchiveDone || a.Diff != `{"skipped":`+itoa(e.calls)+`}` {
		t.Errorf("%s %s", a.State, a.Diff)
	}
}

type counting struct{ calls int }

func (c *counting) Extract(context.Context, skald.Tx, skald.SessionRef, string, skald.Archive, []archive.Turn, time.Time) ([]skald.URI, []byte, error) {
	c.calls++
	return nil, []byte(`{"skipped":1}`), nil
}

func itoa(n int) string { return string(rune('0' + n)) }

func TestRunWakesAndDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, ten()...)
		r := archive.New(w.store, nil, memory.Builtin{}, nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { r.Run(ctx, 2); close(done) }()
		synctest.Wait()
		w.now = time.Now()
		a, _ := w.close("turns")
		r.Wake()
		if err := r.Wait(ctx, ref, a.Index); err != nil {
			t.Error(err)
		}
		w.add(user("I want tea, not coffee."))
		w.now = time.Now()
		w.close("stop")
		cancel()
		<-done
		if w.archive(2).State != skald.ArchiveDone {
			t.Error("the due job was not run before the end")
		}
	})
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/store/memory"
)

// noArchives is a store that cannot keep archives.
type noArchives struct{ skald.Store }

type noArchiveTx struct{ skald.Tx }

var errNoArchives = errors.New("no archives today")

func (noArchiveTx) PutArchive(skald.Archive) error { return errNoArchives }

func (s noArchives) Update(ctx context.Context, fn func(skald.Tx) error) error {
	return s.Store.Update(ctx, func(tx skald.Tx) error { return fn(noArchiveTx{tx}) })
}

// TestREQ033EvaluationNeverHarmsTheWrite: a commit that fails leaves the exchange stored and acknowledged.
func TestREQ033EvaluationNeverHarmsTheWrite(t *testing.T) {
	t.Parallel()
	e, err := engine.New(noArchives{memory.New()}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for i := range 25 {
		r := skald.CommitTurnRequest{AdvancementKey: fmt.Sprint(i)}
		r.Session.SessionKey = "agent:main:x"
		for _, m := range []string{`{"role":"user","content":"q %d"}`, `{"role":"assistant","content":[{"type":"text","text":"a %d"}]}`} {
			r.Messages = append(r.Messages, fmt.Appendf(nil, m, i))
		}
		if got, err := e.CommitTurn(ctx, r); err != nil || got.Stored != 2 {
			t.Fatalf("exchange %d: %+v, %v", i, got, err)
		}
	}
	st, err := e.Status(ctx, skald.DefaultIdentity)
	if err != nil || len(st.Faults) == 0 {
		t.Fatalf("the failing commit is not visible: %+v, %v", st.Faults, err)
	}
}

// TestSenderIsCredited: with peer_role person the host tells who wrote; the turn carries the name.
func TestSenderIsCredited(t *testing.T) {
	t.Parallel()
	e, err := engine.New(memory.New(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := skald.CommitTurnRequest{AdvancementKey: "k"}
	r.Session = skald.SessionAddress{SessionKey: "agent:main:telegram:group:7", SenderID: "kim\x00\n"}
	r.Messages = append(r.Messages, []byte(`{"role":"user","content":"I prefer dark mode"}`), []byte(`{"role":"assistant","content":[{"type":"text","text":"ok"}]}`))
	if _, err := e.CommitTurn(ctx, r); err != nil {
		t.Fatal(err)
	}
	found, err := e.Find(ctx, skald.DefaultIdentity, skald.FindQuery{Query: "dark mode"})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	x, err := e.Expand(ctx, skald.DefaultIdentity, string(found.Hits[0].URI), "", 0)
	if err != nil || x.Turns[0].Speaker != "kim" {
		t.Fatalf("%+v, %v", x.Turns, err)
	}
}

// TestI5FromTurnToWhatWasMadeOfIt: a turn leads to the archive that covers it and to the memory that was made of it.
func TestI5FromTurnToWhatWasMadeOfIt(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.say("My name is Ines and I am allergic to walnuts.", "noted")
	if _, err := h.e.Commit(context.Background(), h.identity(), h.ref().ID, true); err != nil {
		t.Fatal(err)
	}
	x, err := h.e.Expand(context.Background(), h.identity(), string(h.ref().TurnsURI(1, 1)), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Derived) < 2 || x.Derived[0] != h.ref().ArchiveURI(1) {
		t.Fatalf("derived: %v", x.Derived)
	}
}

// TestREQ105CompactionMarker: turns said after a publication say so, and name its checkpoint; those before stay raw.
func TestREQ105CompactionMarker(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for i := range 12 {
		h.say(fmt.Sprint("we decided on barn number ", i), "yes, on that one")
	}
	out := h.compact()
	if !out.Compacted {
		t.Fatalf("%+v", out)
	}
	h.say("and what now?", "now the roof")
	turns, err := h.e.ListTurns(context.Background(), h.identity(), h.ref().ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range turns {
		m := x.Envelope.CompactionMarker
		after := x.Envelope.Sequence > 24
		if m == nil || after != (m.Source == "post_compact") || after != (m.CompactCheckpoint == out.Checkpoint.CheckpointID) {
			t.Fatalf("turn %d: %+v", x.Envelope.Sequence, m)
		}
	}
}

package slot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/slot"
	"github.com/skald-engine/skald/store/memory"
)

// scripted is an engine that does as it is told.
type scripted struct {
	owns     bool
	assemble func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error)
	compact  func(context.Context, skald.CompactRequest) (skald.CompactResult, error)
	after    func(skald.AfterTurnRequest) error
}

func (s *scripted) Info() slot.Info { return slot.Info{ID: "scripted", OwnsCompaction: s.owns} }

func (s *scripted) Assemble(ctx context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
	return s.assemble(ctx, r)
}

func (s *scripted) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	return s.compact(ctx, r)
}

func (s *scripted) AfterTurn(_ context.Context, r skald.AfterTurnRequest) (skald.CommitTurnResult, error) {
	return skald.CommitTurnResult{}, s.after(r)
}

// fill registers an engine under the test's name and selects it.
func fill(t *testing.T, e slot.Engine, host slot.Host) *slot.Slot {
	t.Helper()
	must(t, slot.Register(t.Name(), func(slot.Host) (slot.Engine, error) { return e, nil }))
	s, err := slot.Select(t.Name(), host)
	must(t, err)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// talk has n exchanges with a call each.
func talk(n int) (list []json.RawMessage) {
	for i := range n {
		id, at := fmt.Sprint("call", i), int64(1_772_410_000_000+60_000*i)
		list = append(list, message.User(fmt.Sprintf("ask%d: what is in room %d?", i, 1000+i), at), fmt.Appendf(nil, `{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":"look","arguments":{}}],"timestamp":%d}`, id, at+1),
			message.ToolResult(id, "look", strings.Repeat("a table and a chair. ", 30), at+2),
			fmt.Appendf(nil, `{"role":"assistant","content":[{"type":"text","text":"told%d"}],"timestamp":%d}`, i, at+3))
	}
	return list
}

var key = skald.Request{Session: skald.SessionAddress{SessionKey: "agent:main:main"}}

func ask(n, budget int) skald.AssembleRequest {
	return skald.AssembleRequest{Request: key, Prompt: "And now?", Tail: talk(n), TokenBudget: budget}
}

// valid demands what a provider does.
func valid(t *testing.T, out skald.AssembleResult, budget int, holds string) {
	t.Helper()
	n, all := 0, ""
	for _, m := range out.Messages {
		n, all = n+message.Tokens(m), all+string(m)
	}
	if n > budget || n != out.EstimatedTokens || len(message.CheckPairs(out.Messages)) > 0 || !strings.Contains(all, holds) {
		t.Fatalf("%d tokens, said to be %d, budget %d, %v, %q missing? in %.300s", n, out.EstimatedTokens, budget, message.CheckPairs(out.Messages), holds, all)
	}
}

// TestSelect: one engine by its id, legacy by default, and a hard error for an id that is not known (003-002).
func TestSelect(t *testing.T) {
	t.Parallel()
	s, err := slot.Select("", slot.Host{})
	if err != nil || s.Info().ID != "legacy" {
		t.Fatalf("%v, %v", s, err)
	}
	if _, err := slot.Select("magic", slot.Host{}); skald.KindOf(err) != skald.KindInvalid || !strings.Contains(err.Error(), "legacy") {
		t.Errorf("an unknown engine: %v", err)
	}
	if err := slot.Register("legacy", func(slot.Host) (slot.Engine, error) { return nil, nil }); skald.KindOf(err) != skald.KindConflict {
		t.Errorf("a second legacy: %v", err)
	}
	if err := slot.Register("", nil); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("no id: %v", err)
	}
	for name, factory := range map[string]slot.Factory{
		"error": func(slot.Host) (slot.Engine, error) { return nil, errors.New("no disk") },
		"panic": func(slot.Host) (slot.Engine, error) { panic("no disk") },
		"none":  func(slot.Host) (slot.Engine, error) { return nil, nil },
	} {
		must(t, slot.Register(t.Name()+name, factory))
		if _, err := slot.Select(t.Name()+name, slot.Host{}); err == nil {
			t.Errorf("%s: the slot is filled", name)
		}
	}
}

type mute struct{}

func (mute) Info() slot.Info { return slot.Info{ID: "mute", OwnsCompaction: true} }
func (mute) Assemble(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
	return skald.AssembleResult{}, nil
}

// TestRefusesWhatNeverCompacts: an engine has to compact, or to delegate to a host that does (003-007).
func TestRefusesWhatNeverCompacts(t *testing.T) {
	t.Parallel()
	must(t, slot.Register(t.Name(), func(slot.Host) (slot.Engine, error) { return mute{}, nil }))
	if _, err := slot.Select(t.Name(), slot.Host{}); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("an engine without Compact: %v", err)
	}
	must(t, slot.Register(t.Name()+"2", func(slot.Host) (slot.Engine, error) { return &scripted{}, nil }))
	if _, err := slot.Select(t.Name()+"2", slot.Host{}); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("one that delegates, on a host without compaction: %v", err)
	}
}

// TestGuard: whatever the engine does, the turn is answered on legacy and the fault is on record with its operation (003-030, C-16).
func TestGuard(t *testing.T) {
	t.Parallel()
	give := func(list ...json.RawMessage) func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
		return func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
			return skald.AssembleResult{Messages: list}, nil
		}
	}
	for name, assemble := range map[string]func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error){
		"panic": func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) { panic("oh") },
		"error": func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
			return skald.AssembleResult{}, errors.New("no disk")
		},
		"nothing":     give(),
		"no JSON":     give(json.RawMessage("hello")),
		"no role":     give(json.RawMessage(`{"content":"x"}`)),
		"over budget": give(talk(40)...),
		"unpaired":    give(talk(1)[:2]...),
		"spoils its input": func(_ context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
			for i := range r.Tail {
				copy(r.Tail[i], "xxxxxxxxxxxxxxxxxxxx")
			}
			return skald.AssembleResult{}, errors.New("sorry")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fill(t, &scripted{owns: true, assemble: assemble}, slot.Host{})
			valid(t, s.Assemble(context.Background(), ask(20, 2500)), 2500, "ask19:")
			st := s.Status()
			if len(st.Faults) != 1 || st.Faults[0].Op != "assemble" || st.Faults[0].Session == "" || st.State != slot.StateWaiting || st.Legacy != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestDeadline: an engine that never answers costs one deadline, and is then left alone for a while.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		s := fill(t, &scripted{owns: true, assemble: func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
			<-stop
			return skald.AssembleResult{}, nil
		}}, slot.Host{Deadline: 2 * time.Second})
		began := time.Now()
		valid(t, s.Assemble(context.Background(), ask(5, 9000)), 9000, "told4")
		valid(t, s.Assemble(context.Background(), ask(5, 9000)), 9000, "told4")
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("two turns took %s of the slot's clock", took)
		}
		close(stop)
	})
}

// TestBackOff: a failing engine is tried again after a pause that doubles, quarantined after five faults in a row, and runs again once
// released.
func TestBackOff(t *testing.T) {
	t.Parallel()
	now, calls, broken := time.Unix(1_772_410_000, 0), 0, true
	s := fill(t, &scripted{owns: true, assemble: func(_ context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
		if calls++; broken {
			return skald.AssembleResult{}, errors.New("no disk")
		}
		return skald.AssembleResult{Messages: r.Tail}, nil
	}}, slot.Host{Clock: func() time.Time { return now }})
	turn := func() { valid(t, s.Assemble(context.Background(), ask(2, 9000)), 9000, "told1") }
	for i, pause := range []time.Duration{1, 2, 4, 8} {
		turn()
		turn() // not tried
		if st := s.Status(); calls != i+1 || st.State != slot.StateWaiting || st.RetryAt.Sub(now) != pause*time.Second {
			t.Fatalf("after fault %d: %d calls, %+v", i+1, calls, st)
		}
		now = now.Add(pause * time.Second)
	}
	turn()
	now = now.Add(24 * time.Hour)
	turn()
	if st := s.Status(); calls != 5 || st.State != slot.StateQuarantined || len(st.Faults) != 5 {
		t.Fatalf("%d calls, %+v", calls, st)
	}
	broken = false
	s.Release()
	turn()
	if st := s.Status(); calls != 6 || st.State != slot.StateRunning || st.Legacy != 10 {
		t.Fatalf("%d calls, %+v", calls, st)
	}
}

// TestSmallBudget: a budget that is too small for the engine is nobody's fault; legacy answers.
func TestSmallBudget(t *testing.T) {
	t.Parallel()
	s := fill(t, &scripted{owns: true, assemble: func(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
		return skald.AssembleResult{}, skald.E("assemble", skald.KindBudget, "too small")
	}}, slot.Host{})
	valid(t, s.Assemble(context.Background(), ask(5, 150)), 150, "")
	if st := s.Status(); st.State != slot.StateRunning || len(st.Faults) != 0 {
		t.Errorf("%+v", st)
	}
}

// TestMissedTurns: what the engine missed while it was away is delivered when it is back; nothing is lost.
func TestMissedTurns(t *testing.T) {
	t.Parallel()
	now, broken := time.Unix(1_772_410_000, 0), true
	var got []json.RawMessage
	s := fill(t, &scripted{owns: true, after: func(r skald.AfterTurnRequest) error {
		if broken {
			return errors.New("no disk")
		}
		got = append(got, r.Messages[r.PrePromptMessageCount:]...)
		return nil
	}}, slot.Host{Clock: func() time.Time { return now }})
	for i := range 6 {
		if i == 3 {
			broken, now = false, now.Add(time.Hour)
		}
		s.AfterTurn(context.Background(), skald.AfterTurnRequest{Request: key, Messages: talk(i + 1), PrePromptMessageCount: 4 * i})
	}
	if a, b := fmt.Sprintf("%s", got), fmt.Sprintf("%s", talk(6)); a != b {
		t.Errorf("%d messages arrived, want 24", len(got))
	}
}

// TestSkald: Skald's own engine in the slot, with a strategy of its configuration.
func TestSkald(t *testing.T) {
	t.Parallel()
	store := memory.New()
	must(t, slot.Register(t.Name(), func(h slot.Host) (slot.Engine, error) {
		e, err := engine.New(store, engine.Options{Strategy: string(h.Config), Clock: h.Clock})
		return slot.Of(slot.Info{ID: "skald", OwnsCompaction: true}, e, nil), err
	}))
	s, err := slot.Select(t.Name(), slot.Host{Config: json.RawMessage("dag")})
	must(t, err)
	s.Bootstrap(context.Background(), skald.BootstrapRequest{Request: key})
	for i := range 30 {
		s.AfterTurn(context.Background(), skald.AfterTurnRequest{Request: key, Messages: talk(i + 1), PrePromptMessageCount: 4 * i})
	}
	valid(t, s.Assemble(context.Background(), ask(30, 3000)), 3000, "told29")
	if out := s.Compact(context.Background(), skald.CompactRequest{Request: key, TokenBudget: 3000, Force: true}); !out.Compacted {
		t.Errorf("%+v", out)
	}
	if st := s.Status(); st.State != slot.StateRunning || len(st.Faults) != 0 || st.Legacy != 0 {
		t.Errorf("%+v", st)
	}
	if _, err := slot.Select(t.Name(), slot.Host{Config: json.RawMessage("magic")}); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("an unknown strategy: %v", err)
	}
}

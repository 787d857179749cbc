package replay

import (
	"context"
	"testing"

	"github.com/skald-engine/skald"
)

// TestTwoPlayersTakeTurns: two conversations played exchange by exchange on one engine, each call observed.
func TestTwoPlayersTakeTurns(t *testing.T) {
	t.Parallel()
	ctx, to, messages := context.Background(), target(t), load(t, talk)
	calls := map[string][]Call{}
	var players []*Player
	for _, id := range []string{"s1", "s2"} {
		o := Options{Identity: skald.DefaultIdentity, Session: id, Budget: 50_000, Compact: CompactAuto}
		o.Observe = func(c Call) { calls[id] = append(calls[id], c) }
		p, err := Start(ctx, to, messages, o)
		if err != nil {
			t.Fatal(err)
		}
		players = append(players, p)
	}
	for n, want := range []Span{{From: 0, To: 2}, {From: 2, To: 6}, {From: 6, To: 9}} {
		for _, p := range players {
			x, more := p.Next()
			if !more || x.From != want.From || x.To != want.To || x.Time.IsZero() {
				t.Fatalf("exchange %d: %+v, %v", n, x, more)
			}
			if err := p.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range players {
		if _, more := p.Next(); more {
			t.Error("there is more to play")
		}
		if r, err := p.End(ctx); err != nil || r.Stored != 9 || r.Assembles != 4 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	list := calls["s2"]
	if len(list) != 4 || list[2].Start != 2 || list[2].Message != 5 || list[2].First || !list[3].First || list[3].Shared == 0 || list[3].Longest == 0 {
		t.Errorf("calls: %+v", list)
	}
	for _, c := range list {
		if c.Tokens != sum(c.Before)+sum(c.Pending) {
			t.Errorf("a call of %d tokens holds %d", c.Tokens, sum(c.Before)+sum(c.Pending))
		}
	}
}

// TestRefusedIsObserved: a call that the engine refused is told of, without figures.
func TestRefusedIsObserved(t *testing.T) {
	t.Parallel()
	var calls []Call
	o := Options{Identity: skald.DefaultIdentity, Session: "s1", Budget: 10, Compact: CompactNever, Observe: func(c Call) { calls = append(calls, c) }}
	if _, err := Play(context.Background(), target(t), load(t, talk), o); err != nil {
		t.Fatal(err)
	}
	if len(calls) != 4 || !calls[0].Refused || calls[0].Tokens != 0 {
		t.Errorf("calls: %+v", calls)
	}
}

func TestNothingToPlay(t *testing.T) {
	t.Parallel()
	if _, err := Start(context.Background(), target(t), nil, Options{Session: "s1"}); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("an empty conversation: %v", err)
	}
}

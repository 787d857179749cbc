package strategy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/strategy"
)

// BenchmarkLongSession measures assemble in a session of 50,000 turns, by strategy, at a budget of 128,000 tokens.
func BenchmarkLongSession(b *testing.B) {
	for _, name := range strategy.Names() {
		b.Run(name, func(b *testing.B) { benchLong(b, name, 50_000, 128_000) })
	}
}

func benchLong(b *testing.B, name string, turns, budget int) {
	ctx, now := context.Background(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	s, err := sqlite.Open(ctx, b.TempDir(), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e, err := engine.New(s, engine.Options{Strategy: name, Clock: func() time.Time { return now }, Recall: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	request := skald.Request{Session: skald.SessionAddress{SessionKey: "agent:main:main"}}
	ask := func(n int) skald.AssembleResult {
		out, err := e.Assemble(ctx, skald.AssembleRequest{Request: request, Prompt: "Which tone did we decide for gate 1207?", TokenBudget: budget, MessageCount: 1,
			Model: "gpt-5", TurnID: fmt.Sprint("turn", n)})
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	for n := 0; n < turns; n += 40 {
		var list []json.RawMessage
		for i := n / 4; i < n/4+10; i++ {
			list = append(list, asked(i, 250)...)
		}
		now = now.Add(time.Minute)
		if _, err := e.CommitTurn(ctx, skald.CommitTurnRequest{Request: request, AdvancementKey: fmt.Sprint("k", n), Messages: list, TokenBudget: budget}); err != nil {
			b.Fatal(err)
		}
		if err := e.RunJobs(ctx); err != nil {
			b.Fatal(err)
		}
		if n%400 == 0 {
			ask(n)
		}
	}
	var took []time.Duration
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if out := ask(turns + i); out.EstimatedTokens > budget {
			b.Fatal(out.EstimatedTokens)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

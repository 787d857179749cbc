package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/sqlite"
)

// BenchmarkAssemble measures assemble over a view of 128,000 tokens, with 1,000 and 20,000 older turns of
// other sessions in the same scope.
func BenchmarkAssemble(b *testing.B) {
	for name, open := range map[string]func() skald.Store{"memory": memory.New, "sqlite": func() skald.Store {
		s, err := sqlite.Open(context.Background(), b.TempDir(), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}} {
		for _, stored := range []int{1000, 20_000} {
			if name == "memory" && stored > 1000 {
				continue // the model store is not made for it
			}
			b.Run(fmt.Sprintf("%s/%d", name, stored), func(b *testing.B) {
				s := open()
				defer s.Close()
				benchAssemble(b, newHostOver(b, s), stored)
			})
		}
	}
}

func benchAssemble(b *testing.B, h *host, stored int) {
	h.budget = 170_000
	off := true
	h.req.Settings.NoCommit = &off
	fill(h, stored)
	for range 80 {
		h.exchange(400)
	}
	h.list = make([]json.RawMessage, 100)
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		out := h.assemble("which decision did we take about the harbour tower and its red door?", func(r *skald.AssembleRequest) { r.TurnID = fmt.Sprint("b", i) })
		took = append(took, time.Since(began))
		if out.EstimatedTokens < 120_000 {
			b.Fatal(out.EstimatedTokens)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// exchange is one with a tool call, of about four times n tokens.
func (h *host) exchange(n int) {
	id := fmt.Sprint("c", *h.n)
	h.commit(h.user(fmt.Sprintf("please look at the harbour tower %d: %s", *h.n, long(n))), h.call(id, "run", map[string]any{"cmd": long(n)}),
		h.result(id, "run", long(n)), h.reply("the door is red. "+long(n)))
}

func fill(h *host, stored int) {
	for i := 0; i < stored; i += 400 {
		other := h.session(fmt.Sprint("agent:main:s", i))
		for range 10 {
			var list []json.RawMessage
			for range 10 {
				id := fmt.Sprint("c", len(list), *h.n)
				list = append(list, h.user(fmt.Sprintf("decision %d about the harbour and the tower: %s", *h.n, long(40))), h.call(id, "run", map[string]any{"cmd": "ls"}),
					h.result(id, "run", long(100)), h.reply("we decided that. "+long(40)))
			}
			other.commit(list...)
		}
	}
}

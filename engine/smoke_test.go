package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
)

func TestSmoke(t *testing.T) {
	f, err := os.Open("../../shared/data/transcripts/hand-tidepool.jsonl")
	if err != nil {
		t.Skip(err)
	}
	store := memory.New()
	e, err := engine.New(store, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 10<<20)
	var ex []json.RawMessage
	n := 0
	commit := func() {
		if len(ex) == 0 {
			return
		}
		n++
		m, _ := message.Parse(ex[0])
		r := skald.AssembleRequest{Prompt: m.Text(), TokenBudget: 16000, MessageCount: 1, Model: "gpt-x"}
		r.Session.SessionKey = "agent:main:x"
		r.Now = m.Timestamp.UnixMilli()
		began := time.Now()
		res, err := e.Assemble(ctx, r)
		if err != nil {
			t.Fatal(n, err)
		}
		t.Log(n, len(res.Messages), res.EstimatedTokens, time.Since(began), res.Cut, m.Text()[:min(40, len(m.Text()))])
		if p := message.CheckPairs(res.Messages); len(p) > 0 {
			t.Fatal(p)
		}
		c := skald.CommitTurnRequest{AdvancementKey: m.Timestamp.String(), Messages: ex}
		c.Session.SessionKey = "agent:main:x"
		c.Now = m.Timestamp.UnixMilli()
		cr, err := e.CommitTurn(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if cr.Stored != len(ex) {
			t.Fatal(cr, len(ex))
		}
		if err := e.RunJobs(ctx); err != nil {
			t.Fatal(err)
		}
		ex = nil
	}
	for sc.Scan() {
		raw := append([]byte{}, sc.Bytes()...)
		m, _ := message.Parse(raw)
		if m.Role == "user" && len(ex) > 0 {
			if l, _ := message.Parse(ex[len(ex)-1]); l.Role != "user" {
				commit()
			}
		}
		ex = append(ex, raw)
	}
	commit()
	v, err := e.Verify(ctx, skald.DefaultIdentity, "")
	t.Log(v, err)
	ls, _ := e.ListSessions(ctx, skald.DefaultIdentity, 0)
	t.Logf("%+v", ls)
	d, err := e.DryAssemble(ctx, skald.DefaultIdentity, "new", "Which database and version did we choose for tidepool?", 16000)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Messages {
		t.Log(string(m)[:min(3000, len(m))])
	}
}

package e2e

import (
	"testing"
	"time"

	"github.com/skald-engine/skald/test/gateway"
)

func TestProbe(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	for _, m := range []string{"lab-claude-think/claude-thinking", "lab-gemini-think/gemini-signed"} {
		t.Run(m, func(t *testing.T) {
			s := newTalk(t, ctx, w, "telegram:group:9"+m[4:8], gateway.WithModel(m))
			_, r, err := w.Turn(ctx, s.key, `CALLS 2 memory_recall {"query":"qqqzzz"}`, gateway.WithModel(m))
			t.Log(len(r), err)
			for _, q := range r {
				t.Log(recallForm(q), q.ThinkingEnabled, q.Refusal)
				t.Log(string(q.Raw[:200]))
				for _, x := range q.Messages {
					t.Log(short(string(x.Raw)))
				}
			}
		})
	}
}

package hook

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
)

// slow is an engine that gets no more done within the time of a hook than so many bytes.
type slow struct {
	*engine.Engine
	left int
}

func (s *slow) Reconcile(ctx context.Context, r skald.ReconcileRequest) (skald.ReconcileResult, error) {
	for _, e := range r.Entries {
		s.left -= len(e.Message)
	}
	if s.left < 0 {
		return skald.ReconcileResult{}, context.DeadlineExceeded
	}
	return s.Engine.Reconcile(ctx, r)
}

// A transcript of which a hook's time is enough for a part only (a backlog of 100 MB, a slow disk) is stored hook by hook, not never.
func TestBacklogIsStoredHookByHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("heron ", 10_000)
	for i := range 40 { // 2.4 MB
		w.user(firstSession, fmt.Sprint(long, i))
		w.reply(firstSession, fmt.Sprint("msg_", i), text("Noted."))
	}
	last := 0
	for hooks := 1; last < 80; hooks++ {
		h := w.h
		h.Engine = &slow{Engine: w.e, left: 1 << 20}
		_, _ = h.Run(t.Context(), w.input("SessionEnd"))
		stored := len(w.turns(firstSession))
		if stored <= last {
			t.Fatalf("hook %d of a backlog got nothing done: %d of 80 turns are stored", hooks, stored)
		}
		last = stored
	}
}

// A person may begin a prompt with a tag; only the program's own tags make it one that nobody asked.
func TestPromptThatBeginsWithATag(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"<div> is not centred, why?": true, "<3 herons": true, "<task-notification>done</task-notification>": false,
		"<local-command-stdout>x</local-command-stdout>": false, "  ": false,
	} {
		if got := asks(Input{Prompt: prompt}); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

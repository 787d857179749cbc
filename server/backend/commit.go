package backend

import (
	"context"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server/api"
)

// ArchiveSession implements api.Backend. Commits of one session are serialised by the store: a second one finds what the first
// left open (ARC-01).
func (b *Backend) ArchiveSession(ctx context.Context, id skald.Identity, session string, o api.CommitOptions) (out api.Committed, err error) {
	err = b.change(ctx, "commit", b.ref(id, session), func(tx skald.Tx, s *state) error {
		out, err = commit(tx, s, o, "api", b.engine.Now())
		return err
	})
	if err != nil {
		return api.Committed{}, err
	}
	if out.Archived {
		b.engine.Committed()
	}
	return out, nil
}

// The reasons why nothing was archived.
const (
	noMessages = "no_messages"
	withinKeep = "all_within_keep_window"
)

// commit is phase 1: it archives what o does not keep. s is updated; the caller stores it.
func commit(tx skald.Tx, s *state, o api.CommitOptions, cause string, now time.Time) (api.Committed, error) {
	if s.LastSeq < s.OpenFrom {
		return api.Committed{Reason: noMessages}, retry(tx, s, cause, now)
	}
	open, err := tx.Turns(s.Ref, skald.TurnQuery{From: s.OpenFrom, To: s.LastSeq, NoRaw: true})
	if err != nil {
		return api.Committed{}, err
	}
	k := keep(open, o)
	out := api.Committed{ActiveTokens: s.OpenTokens, BudgetExceeded: k.exceeded}
	if k.archived == 0 {
		out.Reason = withinKeep
		return out, nil
	}
	a, closed, err := engine.CloseThrough(tx, &s.Session, open[k.archived-1].Seq, cause, now)
	if err != nil || !closed { // an automatic commit does not archive what never counts
		out.Reason = noMessages
		return out, err
	}
	s.kept(open[k.archived:])
	task, err := taskOf(tx, a)
	return api.Committed{
		Archived: true, Task: task, Archive: s.Ref.ArchiveURI(a.Index), ActiveTokens: s.OpenTokens, BudgetExceeded: k.exceeded,
	}, err
}

// retry gives failed archives another try when somebody wished for a commit, also where nothing is left to archive.
func retry(tx skald.Tx, s *state, cause string, now time.Time) error {
	if archive.Automatic(cause) {
		return nil
	}
	return archive.Retry(tx, &s.Session, now)
}

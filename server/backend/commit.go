package backend

import (
	"context"
	"errors"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server/api"
)

// ArchiveSession implements api.Backend. Commits of one session are serialised by the store: a second one finds what the first left open
// (ARC-01). The session remembers what it was asked to keep.
func (b *Backend) ArchiveSession(
	ctx context.Context, id skald.Identity, session string, o api.CommitOptions,
) (out api.Committed, err error) {
	err = b.change(ctx, "commit", b.ref(id, session), func(tx skald.Tx, s *state) error {
		s.note.Keep = o
		s.note.Keep.EventTags, s.note.Keep.Reset = nil, false
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
		return api.Committed{Reason: noMessages}, errors.Join(retry(tx, s, cause, now), reset(tx, s, o, now))
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
	first := s.Archives + 1
	a, closed, err := engine.CloseThrough(tx, &s.Session, open[k.archived-1].Seq, cause, now)
	if err != nil || !closed { // an automatic commit does not archive what never counts
		out.Reason = noMessages
		return out, err
	}
	if err := s.order(tx, first, o); err != nil {
		return out, err
	}
	if err := reset(tx, s, o, now); err != nil {
		return out, err
	}
	s.kept(open[k.archived:])
	task, err := taskOf(tx, a)
	return api.Committed{
		Archived: true, Task: task, Archive: s.Ref.ArchiveURI(a.Index), ActiveTokens: s.OpenTokens, BudgetExceeded: k.exceeded,
	}, err
}

// order writes into the new archives what is asked of their extraction, and what was used since the one before.
func (s *state) order(tx skald.Tx, first int, o api.CommitOptions) error {
	list, err := tx.Archives(s.Ref, first)
	for _, a := range list {
		a.Extraction, a.Uses = s.note.asked(o.EventTags), s.note.Uses
		s.note.Uses = 0
		if err := tx.PutArchive(a); err != nil {
			return err
		}
	}
	return err
}

// reset begins the context anew, where that was asked for.
func reset(tx skald.Tx, s *state, o api.CommitOptions, now time.Time) error {
	if !o.Reset {
		return nil
	}
	return engine.StartEpoch(tx, &s.Session, now)
}

// retry gives failed archives another try when somebody wished for a commit, also where nothing is left to archive.
func retry(tx skald.Tx, s *state, cause string, now time.Time) error {
	if archive.Automatic(cause) {
		return nil
	}
	return archive.Retry(tx, &s.Session, now)
}

package backend

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// CreateSession implements api.Backend.
func (b *Backend) CreateSession(ctx context.Context, id skald.Identity, n api.NewSession) (out api.Session, err error) {
	ref := b.ref(id, n.ID)
	err = b.store.Update(ctx, func(tx skald.Tx) error {
		_, err := tx.Session(ref)
		switch {
		case err == nil:
			return &skald.Error{Op: "backend.create_session", URI: string(ref.URI()), Kind: skald.KindExists}
		case skald.KindOf(err) != skald.KindNotFound:
			return err
		}
		s, err := b.fresh(id, n)
		if err != nil {
			return err
		}
		if err := s.save(tx); err != nil {
			return err
		}
		out, err = describe(s)
		return err
	})
	b.report("create_session", n.ID, err)
	return out, err
}

// fresh is a session of /api/v1 that is not stored yet.
func (b *Backend) fresh(id skald.Identity, n api.NewSession) (state, error) {
	s := state{Session: b.engine.NewSession(id, n.ID)}
	s.note = note{Memory: n.Memory, OpenFrom: s.OpenFrom}
	s.note.Extraction.Events.Tags = n.EventTags
	return s, s.setPolicy(n.AutoCommit)
}

// open reads a session, or makes a missing one without storing it.
func (b *Backend) open(tx skald.Tx, id skald.Identity, session string) (state, error) {
	s, err := load(tx, b.ref(id, session))
	if skald.KindOf(err) == skald.KindNotFound {
		return b.fresh(id, api.NewSession{ID: session})
	}
	return s, err
}

// GetSession implements api.Backend.
func (b *Backend) GetSession(ctx context.Context, id skald.Identity, session string, create bool) (out api.Session, err error) {
	ref := b.ref(id, session)
	err = b.store.View(ctx, func(tx skald.Tx) error {
		out, err = full(tx, ref)
		return err
	})
	if !create || skald.KindOf(err) != skald.KindNotFound {
		return out, err
	}
	err = b.store.Update(ctx, func(tx skald.Tx) error {
		s, err := b.open(tx, id, session)
		if err != nil {
			return err
		}
		if err := s.save(tx); err != nil {
			return err
		}
		out, err = full(tx, ref)
		return err
	})
	b.report("create_session", session, err)
	return out, err
}

// describe is what the session's own state tells: all but the extracted memories, which take a reading of all archives.
func describe(s state) (api.Session, error) {
	policy, err := s.policy()
	out := api.Session{
		ID: s.Ref.ID, URI: s.Ref.URI(), Created: s.Created, Updated: s.Updated, LastCommit: s.LastCommit,
		Live: s.live(), Total: s.total(), Commits: s.Archives, PendingTokens: s.pending(),
		ContextsUsed: s.UsedCount, SkillsUsed: s.SkillCount,
		AutoCommit: policy, Memory: s.note.Memory, EventTags: s.note.Extraction.Events.Tags,
		LastAutoCommit: s.note.LastAuto, LastIdleCommit: s.note.LastIdle, Keep: s.note.Keep,
	}
	if s.LastSeq > 0 {
		out.LastMessage = s.LastCommitTurn
	}
	return out, err
}

// full describes a session with its memories.
func full(tx skald.Tx, ref skald.SessionRef) (api.Session, error) {
	s, err := load(tx, ref)
	if err != nil {
		return api.Session{}, err
	}
	out, err := describe(s)
	if err != nil {
		return out, err
	}
	archives, err := tx.Archives(ref, 1)
	var all []skald.URI
	for _, a := range archives {
		all = append(all, a.Memories...)
	}
	out.Memories = byType(all)
	return out, err
}

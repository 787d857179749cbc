package engine

import (
	"context"
	"fmt"

	"github.com/skald-engine/skald"
)

// verifyPage is how many turns are checked in one read.
const verifyPage = 500

// Verify implements skald.Inspector: the chain, gapless sequences, and that every archive, checkpoint and memory resolves to stored
// turns (I3, I5).
func (e *Engine) Verify(ctx context.Context, id skald.Identity, session string) (skald.VerifyResult, error) {
	v := &verification{result: skald.VerifyResult{Problems: []string{}}}
	err := e.store.View(ctx, func(tx skald.Tx) error {
		sessions, err := e.verified(tx, id, session)
		if err != nil {
			return err
		}
		for _, s := range sessions {
			if err := v.session(ctx, tx, s); err != nil {
				return err
			}
		}
		return v.memories(tx, memoriesOf(e.opts.Policy.Readable(id), sessions, session))
	})
	v.result.OK = len(v.result.Problems) == 0
	return v.result, err
}

func (e *Engine) verified(tx skald.Tx, id skald.Identity, session string) ([]skald.Session, error) {
	if session == "" {
		return tx.Sessions(skald.SessionQuery{Scopes: e.opts.Policy.Readable(id)})
	}
	s, err := e.find(tx, id, session)
	return []skald.Session{s}, err
}

type verification struct{ result skald.VerifyResult }

func (v *verification) problem(format string, args ...any) {
	v.result.Problems = append(v.result.Problems, fmt.Sprintf(format, args...))
}

func (v *verification) session(ctx context.Context, tx skald.Tx, s skald.Session) error {
	v.result.Sessions++
	var previous []byte
	next := int64(1)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := tx.Turns(s.Ref, skald.TurnQuery{From: next, Limit: verifyPage})
		if err != nil {
			return err
		}
		for _, t := range page {
			if t.Seq != next {
				v.problem("%s: turn %d follows turn %d", s.Ref.URI(), t.Seq, next-1)
			}
			if !linked(previous, t) {
				v.problem("%s: the chain is broken at turn %d", s.Ref.URI(), t.Seq)
			}
			previous, next = t.Link, t.Seq+1
			v.result.Turns++
		}
		if len(page) < verifyPage {
			break
		}
	}
	if next-1 != s.LastSeq {
		v.problem("%s: %d turns are stored, the session says %d", s.Ref.URI(), next-1, s.LastSeq)
	}
	return v.archives(tx, s)
}

func (v *verification) archives(tx skald.Tx, s skald.Session) error {
	list, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return err
	}
	end := int64(0)
	for i, a := range list {
		v.result.Archives++
		if a.Index != i+1 || a.From != end+1 || a.To < a.From || a.To > s.LastSeq {
			v.problem("%s covers turns %d to %d after %d", s.Ref.ArchiveURI(a.Index), a.From, a.To, end)
		}
		end = a.To
		for _, section := range a.Overview {
			for _, l := range section.Lines {
				if l.From < 1 || l.To < l.From || l.To > s.LastSeq {
					v.problem("%s: a line cites turns %d to %d, which do not exist", s.Ref.ArchiveURI(a.Index), l.From, l.To)
				}
			}
		}
	}
	if err := v.checkpoints(tx, s, list); err != nil {
		return err
	}
	if s.OpenFrom != end+1 {
		v.problem("%s: open turns begin at %d, archives end at %d", s.Ref.URI(), s.OpenFrom, end)
	}
	return nil
}

// checkpoints checks that every archive has one which covers its turns, and that none is about anything else.
func (v *verification) checkpoints(tx skald.Tx, s skald.Session, archives []skald.Archive) error {
	list, err := tx.Checkpoints(s.Ref)
	if err != nil {
		return err
	}
	covered := map[int]skald.TurnRange{}
	for _, c := range list {
		covered[c.ArchiveIndex] = c.SourceTurnRange
	}
	for _, a := range archives {
		if covered[a.Index] != (skald.TurnRange{StartSequence: a.From, EndSequence: a.To}) {
			v.problem("%s: its checkpoint covers turns %d to %d", s.Ref.ArchiveURI(a.Index), covered[a.Index].StartSequence, covered[a.Index].EndSequence)
		}
		delete(covered, a.Index)
	}
	for index := range covered {
		v.problem("%s: a checkpoint without an archive", s.Ref.ArchiveURI(index))
	}
	return nil
}

// memoriesOf asks for all memories, or for those that were made of the one session that was named.
func memoriesOf(scopes []skald.Scope, sessions []skald.Session, named string) skald.MemoryQuery {
	q := skald.MemoryQuery{Scopes: scopes}
	if named != "" {
		q.Source, q.From, q.To = &sessions[0].Ref, 1, sessions[0].LastSeq+1 // +1: its exchange may still be under way
	}
	return q
}

func (v *verification) memories(tx skald.Tx, q skald.MemoryQuery) error {
	list, err := tx.Memories(q)
	if err != nil {
		return err
	}
	for _, m := range list {
		v.result.Memories++
		if len(m.Sources) == 0 && !m.Explicit {
			v.problem("%s has no source", m.URI)
		}
		for _, src := range m.Readable() {
			s, err := tx.Session(src.Session)
			pending := m.Explicit && src.From == s.LastSeq+1 // stored by a tool call whose exchange is still under way
			if err != nil || src.From < 1 || src.To > s.LastSeq && !pending {
				v.problem("%s: its source %s does not exist", m.URI, src.Session.TurnsURI(src.From, src.To))
			}
		}
	}
	return nil
}

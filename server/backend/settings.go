package backend

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// ConfigureSession implements api.Settings.
func (b *Backend) ConfigureSession(
	ctx context.Context, id skald.Identity, session string, c api.Configuration,
) (out api.Session, err error) {
	err = b.change(ctx, "configure_session", b.ref(id, session), func(tx skald.Tx, s *state) error {
		old, err := s.policy()
		if err != nil {
			return err
		}
		if p := c.AutoCommit.Apply(old); p != old {
			if err := s.setPolicy(p); err != nil {
				return err
			}
		}
		if c.EventTags != nil {
			s.note.Extraction.Events.Tags = c.EventTags
		}
		out, err = describe(*s)
		return err
	})
	return out, err
}

// ExtractSession implements api.Settings. The session's own policy holds.
func (b *Backend) ExtractSession(ctx context.Context, id skald.Identity, session string) (out []api.Extracted, err error) {
	err = b.store.Update(ctx, func(tx skald.Tx) error {
		s, err := load(tx, b.ref(id, session))
		if err != nil {
			return err
		}
		uris, err := b.engine.ExtractOpen(ctx, tx, s.Session, s.note.asked(nil))
		if err != nil {
			return err
		}
		out, err = b.extracted(tx, id, uris)
		return err
	})
	b.report("extract", session, err)
	return out, err
}

// extracted reads memories, each once.
func (b *Backend) extracted(tx skald.Tx, id skald.Identity, uris []skald.URI) (out []api.Extracted, err error) {
	seen := map[skald.URI]bool{}
	for _, u := range uris {
		t, err := u.Resolve(id.Account)
		if err != nil || seen[u] {
			continue
		}
		seen[u] = true
		m, err := tx.Memory(t.Scope, u)
		if err != nil {
			return nil, err
		}
		out = append(out, api.Extracted{URI: u, Category: m.Type, Text: m.Text})
	}
	return out, nil
}

// RetryArchive implements api.Settings. An archive whose job has expired gets a new one.
func (b *Backend) RetryArchive(ctx context.Context, id skald.Identity, session string, index int) (out api.Committed, err error) {
	ref := b.ref(id, session)
	err = b.change(ctx, "retry_archive", ref, func(tx skald.Tx, s *state) error {
		a, err := tx.Archive(ref, index)
		if err != nil {
			return err
		}
		out = api.Committed{Archived: true, Archive: ref.ArchiveURI(index)}
		return b.engine.RetryIn(tx, &s.Session, a)
	})
	if err != nil {
		return api.Committed{}, err
	}
	b.engine.Wake()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		out.Task, err = taskOf(tx, skald.Archive{Session: ref, Index: index})
		return err
	})
	return out, err
}

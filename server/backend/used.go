package backend

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// MarkUsed implements api.Backend. Every report counts for the session; a memory's own count goes up once for each report that
// names it.
func (b *Backend) MarkUsed(ctx context.Context, id skald.Identity, session string, u api.Used) (out api.UsedTotals, err error) {
	err = b.change(ctx, "mark_used", b.ref(id, session), func(tx skald.Tx, s *state) error {
		s.UsedCount += len(u.Contexts)
		if u.Skill != nil {
			s.SkillCount++
		}
		out = api.UsedTotals{Contexts: s.UsedCount, Skills: s.SkillCount}
		n, err := b.countUses(tx, id, u.Contexts)
		s.note.Uses += n
		return err
	})
	return out, err
}

// countUses passes over what is no memory of the caller: contexts may be turns, archives, or of another server.
func (b *Backend) countUses(tx skald.Tx, id skald.Identity, contexts []string) (n int, err error) {
	seen := map[skald.URI]bool{}
	for _, raw := range contexts {
		uri, err := skald.ParseURI(raw, id, b.engine.Policy())
		if err != nil || seen[uri] {
			continue
		}
		seen[uri] = true
		target, err := uri.Resolve(id.Account)
		if err != nil || !target.Memory {
			continue
		}
		m, err := tx.Memory(target.Scope, uri)
		switch skald.KindOf(err) {
		case "":
		case skald.KindNotFound:
			continue
		default:
			return n, err
		}
		m.Uses, m.Used = m.Uses+1, b.engine.Now()
		if err := tx.PutMemory(m); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

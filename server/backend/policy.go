package backend

import (
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// autoCommit commits after a write when the session's own policy says so.
func autoCommit(tx skald.Tx, s *state, now time.Time) (bool, error) {
	p, err := s.policy()
	if err != nil || p == nil {
		return false, err
	}
	cause := due(s, *p, now)
	if cause == "" {
		return false, nil
	}
	c, err := commit(tx, s, api.CommitOptions{KeepRecent: p.KeepRecent}, cause, now)
	if c.Archived {
		s.note.LastAuto = now
	}
	return c.Archived, err
}

// due is the cause of a commit, or "". A threshold of 0 is off, and one is exceeded, not reached, as in OpenViking.
func due(s *state, p api.AutoCommitPolicy, now time.Time) string {
	switch {
	case paused(s, p, now):
		return ""
	case p.PendingTokens > 0 && s.pending() > p.PendingTokens:
		return "tokens"
	case p.Messages > 0 && s.live() > p.Messages:
		return "turns"
	}
	return ""
}

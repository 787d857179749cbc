package engine

import (
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
)

// startsEpoch reports that the host reset the session: it shows a new lifecycle revision, or an empty list where turns are stored.
// Hooks are hints only (design, "Reset").
func startsEpoch(s skald.Session, r skald.AssembleRequest, turns bool) bool {
	if s.LastSeq == 0 || !turns {
		return false
	}
	if r.Session.Lifecycle != "" && r.Session.Lifecycle != s.Lifecycle {
		return s.Lifecycle != "" || r.MessageCount == 0
	}
	return r.MessageCount == 0
}

// startEpoch closes the old epoch with a commit and opens an empty one. Sequences go on (000-190: the host's reset keeps its
// meaning).
func startEpoch(tx skald.Tx, s *skald.Session, lifecycle string, now time.Time) error {
	if _, _, err := archive.Close(tx, s, "reset", now); err != nil {
		return err
	}
	last, err := tx.Turns(s.Ref, skald.TurnQuery{Desc: true, Limit: 1, NoRaw: true})
	if err != nil {
		return err
	}
	s.EpochPosition = 0
	if len(last) == 1 && last[0].Position >= 0 {
		s.EpochPosition = last[0].Position + 1
	}
	s.Epoch++
	s.EpochFrom, s.Published = s.LastSeq+1, s.LastSeq
	s.Head, s.HeadSet = "", false
	s.ReportedInput, s.ViewTokens = 0, 0
	s.Lifecycle = lifecycle
	s.Publication++
	return nil
}

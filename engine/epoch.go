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
	if err := setEpochPosition(tx, s); err != nil {
		return err
	}
	s.Epoch++
	s.EpochFrom, s.Published = s.LastSeq+1, s.LastSeq
	s.Head, s.HeadSet = "", false
	s.ReportedInput, s.ViewTokens = 0, 0
	s.Lifecycle = lifecycle
	s.Publication++
	return nil
}

// setEpochPosition takes the place after the last known one; the epoch's first delivery says it exactly.
func setEpochPosition(tx skald.Tx, s *skald.Session) error {
	const reach = 50 // turns looked at: not every delivery tells positions
	newest, err := tx.Turns(s.Ref, skald.TurnQuery{Desc: true, Limit: reach, NoRaw: true})
	if err != nil {
		return err
	}
	s.EpochPosition = 0
	for _, t := range newest {
		s.EpochPosition = max(s.EpochPosition, t.Position+1)
	}
	return nil
}

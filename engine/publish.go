package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/strategy"
)

// publish moves the published point in one transaction: from one assemble to the next the model sees either the old view or the new
// one. Earlier recalls leave with it, so that they don't take the room of those that come (design, "Recall").
func (e *Engine) publish(ctx context.Context, by strategy.Strategy, s *skald.Session, in strategy.Input, target strategy.Target) (strategy.Publication, error) {
	var p strategy.Publication
	err := e.store.Update(ctx, func(tx skald.Tx) error {
		fresh, err := tx.Session(s.Ref)
		if err != nil {
			return err
		}
		in.Session = fresh
		if p, err = by.Publish(tx, in, target); err != nil || p.Through <= fresh.Published {
			return err
		}
		fresh.Published, fresh.Head, fresh.HeadSet = p.Through, p.Head, true
		fresh.Publication++
		if fresh.Compactions, err = marked(tx, fresh, p.Through); err != nil {
			return err
		}
		if err := clearRecalls(tx, fresh); err != nil {
			return err
		}
		fresh.ReportedInput, fresh.ViewTokens, fresh.Unviewed = 0, p.After, 0 // older counts are worth nothing now (CMP-01, TOK-03)
		*s = fresh
		return tx.PutSession(fresh)
	})
	if err == nil && p.Through > 0 {
		e.opts.Metrics.Count("publications", 1)
	}
	return p, err
}

// clearRecalls empties the recalls behind the published point, but for that of the prompt which is being answered. What they led to stays
// noted: use keeps an archive warm.
func clearRecalls(tx skald.Tx, s skald.Session) error {
	placed, err := tx.Recalls(s.Ref, s.Published)
	for _, r := range placed {
		if err == nil && len(r.Messages) > 0 && r.AfterSeq < s.LastSeq {
			err = tx.PutRecall(s.Ref, skald.PlacedRecall{AfterSeq: r.AfterSeq, TurnID: r.TurnID, Time: r.Time, URIs: r.URIs})
		}
	}
	return err
}

const keptCompactions = 1000

// marked adds a publication to those of the session.
func marked(tx skald.Tx, s skald.Session, through int64) ([]skald.Compaction, error) {
	c := skald.Compaction{After: s.LastSeq}
	list, err := tx.Checkpoints(s.Ref)
	for _, p := range list {
		if p.SourceTurnRange.StartSequence <= through {
			c.Checkpoint = p.CheckpointID
		}
	}
	marks := append(slices.Clone(s.Compactions), c)
	return marks[max(0, len(marks)-keptCompactions):], err
}

// envelope is a turn as document 000 writes it, with what the session knows about it.
func envelope(s skald.Session, t skald.Turn, used map[string][]string) skald.TurnEnvelope {
	v := message.Envelope(t, s.Ref.ID, used[t.TurnID])
	for _, c := range s.Compactions {
		if c.After < t.Seq && t.Seq >= s.EpochFrom && c.After >= s.EpochFrom {
			v.CompactionMarker = &skald.CompactionMarker{Source: "post_compact", CompactCheckpoint: c.Checkpoint}
		}
	}
	return v
}

// projection names what the model sees before the raw turns; it changes on publication and reset only.
func projection(s skald.Session) string {
	return s.Ref.ID + "." + strconv.Itoa(s.Epoch) + "." + strconv.Itoa(s.Publication)
}

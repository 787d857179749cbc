package storetest

import (
	"testing"

	"github.com/skald-engine/skald"
)

func archive(ref skald.SessionRef, index int) skald.Archive {
	return skald.Archive{
		Session: ref, Index: index, Epoch: 1, From: 1, To: 3, Cause: "tokens", State: skald.ArchiveClosed, Created: at(1), Updated: at(2),
		Abstract: "one \xff sentence", Tokens: 40, Fallback: true, Memories: []skald.URI{"viking://user/alice/memories/profile.md"},
		Overview: []skald.Section{{Title: "Facts", Lines: []skald.Line{{Text: "a fact", Time: at(1), Speaker: "Ann", Status: "agreed", From: 1, To: 2}}}, {Title: "Tasks"}},
		Steps:    []string{"summary"}, Error: "none", Diff: `{"added":[]}`,
	}
}

func checkpoint(id string) skald.CompactCheckpoint {
	return skald.CompactCheckpoint{CheckpointID: id, SessionID: chat.ID, CommittedAt: "2026-03-01T00:00:00Z", ArchiveIndex: 1,
		SourceTurnRange: skald.TurnRange{StartSequence: 1, EndSequence: 3}, SummaryURI: "viking://s", ExtractedMemoryURIs: []string{"viking://m"}}
}

var archiveTests = map[string]func(*testing.T, skald.Store){
	"Archives": func(t *testing.T, s skald.Store) {
		done := archive(chat, 2)
		done.State, done.Overview = skald.ArchiveDone, nil
		update(t, s, func(tx skald.Tx) error {
			_, err := tx.Archive(chat, 1)
			wantKind(t, "missing", err, skald.KindNotFound)
			return firstError(
				func() error { return tx.PutArchive(archive(chat, 10)) },
				func() error { return tx.PutArchive(archive(chat, 2)) },
				func() error { return tx.PutArchive(archive(chat, 1)) },
				func() error { return tx.PutArchive(done) },
			)
		})
		same(t, "one", read(t, s, func(tx skald.Tx) (skald.Archive, error) { return tx.Archive(chat, 2) }), done)
		get := func(first int) []skald.Archive {
			return read(t, s, func(tx skald.Tx) ([]skald.Archive, error) { return tx.Archives(chat, first) })
		}
		same(t, "all", get(0), []skald.Archive{archive(chat, 1), done, archive(chat, 10)})
		same(t, "from 2", get(2), []skald.Archive{done, archive(chat, 10)})
	},
	"Checkpoints": func(t *testing.T, s skald.Store) {
		changed := checkpoint("b")
		changed.ArchiveIndex = 7
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.PutCheckpoint(chat, checkpoint("b")) },
				func() error { return tx.PutCheckpoint(chat, checkpoint("a")) },
				func() error { return tx.PutCheckpoint(chat, changed) },
			)
		})
		got := read(t, s, func(tx skald.Tx) ([]skald.CompactCheckpoint, error) { return tx.Checkpoints(chat) })
		same(t, "in order of making", got, []skald.CompactCheckpoint{changed, checkpoint("a")})
	},
}

package storetest

import (
	"testing"

	"github.com/skald-engine/skald"
)

// state is everything that can be read of the session chat and its scope, for comparisons as a whole.
type state struct {
	Session     skald.Session
	Sessions    []skald.Session
	Turns       []skald.Turn
	Keys        []skald.TurnRange
	Recalls     []skald.PlacedRecall
	Dead        []skald.DeadLetter
	Archives    []skald.Archive
	Checkpoints []skald.CompactCheckpoint
	Memories    []skald.Memory
	Hits        []skald.Doc
	Traces      []skald.Trace
	Jobs        []skald.Job
	Files       []skald.File
	Records     []skald.Record
}

func snapshot(t *testing.T, s skald.Store) state {
	t.Helper()
	return read(t, s, readState)
}

func readState(tx skald.Tx) (st state, err error) {
	steps := []func() error{
		func() (err error) {
			st.Session, err = tx.Session(chat)
			if skald.KindOf(err) == skald.KindNotFound {
				err = nil
			}
			return err
		},
		func() (err error) { st.Sessions, err = tx.Sessions(skald.SessionQuery{}); return err },
		func() (err error) { st.Turns, err = tx.Turns(chat, skald.TurnQuery{}); return err },
		func() (err error) {
			r, found, err := tx.TurnKey(chat, "key")
			if found {
				st.Keys = append(st.Keys, r)
			}
			return err
		},
		func() (err error) { st.Recalls, err = tx.Recalls(chat, 0); return err },
		func() (err error) { st.Dead, err = tx.DeadLetters(everyone, 0); return err },
		func() (err error) { st.Archives, err = tx.Archives(chat, 0); return err },
		func() (err error) { st.Checkpoints, err = tx.Checkpoints(chat); return err },
		func() (err error) { st.Memories, err = tx.Memories(skald.MemoryQuery{Scopes: everyone}); return err },
		func() (err error) {
			res, err := tx.Search(skald.SearchQuery{Scopes: everyone, Terms: []string{"common"}})
			for _, h := range res.Hits {
				h.Doc.ID = 0
				st.Hits = append(st.Hits, h.Doc)
			}
			return err
		},
		func() (err error) { st.Traces, err = tx.Traces(chat, skald.TraceQuery{}); return err },
		func() (err error) { st.Jobs, err = tx.Jobs(nil, 0); return err },
		func() (err error) { st.Files, err = tx.Files(skald.FileQuery{Scopes: everyone}); return err },
		func() (err error) { st.Records, err = tx.Records(skald.RecordQuery{Kind: "watch"}); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return st, err
		}
	}
	return st, nil
}

// writeEverything writes something of each kind: three turns and four docs among it.
func writeEverything(tx skald.Tx) error {
	return firstError(
		func() error { return tx.PutSession(session(chat, 1)) },
		func() error { return tx.AppendTurns(chat, turns(1, 3)) },
		func() error { return tx.PutTurnKey(chat, "key", skald.TurnRange{StartSequence: 1, EndSequence: 3}) },
		func() error { return tx.PutRecall(chat, recall(2)) },
		func() error { return tx.PutDeadLetter(deadLetter(chat, "too large")) },
		func() error { return tx.PutArchive(archive(chat, 1)) },
		func() error { return tx.PutCheckpoint(chat, checkpoint("c1")) },
		func() error { return tx.PutMemory(newMemory(alice, "viking://user/alice/memories/profile.md")) },
		func() error {
			return tx.PutDocs([]skald.Doc{
				turnDoc(chat, 1, "common", "alpha"), turnDoc(chat, 2, "common", "beta"), archiveDoc(chat, 1, "common", "gamma"),
				memoryDoc(alice, "viking://user/alice/memories/profile.md", "common", "delta"),
			})
		},
		func() error { return tx.PutTrace(chat, trace(1)) },
		func() error { return tx.PutJob(job("j1", chat, 0)) },
		func() error { return tx.PutFile(file(alice, docs+"/a.md")) },
		func() error { return tx.PutRecord(newRecord(alice, "1", "old")) },
	)
}

// writeEverything2 changes everything that writeEverything wrote.
func writeEverything2(tx skald.Tx) error {
	changed := turn(2)
	changed.Forgotten, changed.Purged = true, true
	return firstError(
		func() error { return tx.PutSession(session(chat, 9)) },
		func() error { return tx.AppendTurns(chat, turns(4, 5)) },
		func() error { return tx.UpdateTurn(chat, changed) },
		func() error { return tx.PutTurnKey(chat, "key", skald.TurnRange{StartSequence: 4, EndSequence: 5}) },
		func() error { return tx.PutRecall(chat, recall(1)) },
		func() error { return tx.PutDeadLetter(deadLetter(chat, "again")) },
		func() error { return tx.PutArchive(archive(chat, 2)) },
		func() error { return tx.PutCheckpoint(chat, checkpoint("c2")) },
		func() error { return tx.DeleteMemory(alice, "viking://user/alice/memories/profile.md") },
		func() error { return tx.DeleteTurnDocs(chat, 1, 1) },
		func() error { return tx.DeleteURIDocs(alice, "viking://user/alice/memories/profile.md") },
		func() error { return tx.PutDocs([]skald.Doc{turnDoc(chat, 4, "common")}) },
		func() error { return tx.PutTrace(chat, trace(2)) },
		func() error { return tx.PutJob(job("j2", chat, 0)) },
		func() error { return tx.PutFile(folder(alice, docs+"/a.md")) },
		func() error { return tx.PutRecord(newRecord(alice, "1", "new")) },
	)
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

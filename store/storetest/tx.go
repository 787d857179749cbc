package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

var txTests = map[string]func(*testing.T, skald.Store){
	"FailedUpdateLeavesNothing": func(t *testing.T, s skald.Store) {
		err := s.Update(t.Context(), func(tx skald.Tx) error {
			if err := writeEverything(tx); err != nil {
				t.Errorf("writing: %v", err)
			}
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			t.Errorf("Update returned %v, want the closure's error", err)
		}
		same(t, "after the failed update", snapshot(t, s), state{})
		update(t, s, writeEverything)
		before := snapshot(t, s)
		_ = s.Update(t.Context(), func(tx skald.Tx) error {
			return errors.Join(writeEverything2(tx), errUndo)
		})
		same(t, "after a failed update of existing data", snapshot(t, s), before)
	},
	"PanicIsAnErrorAndLeavesNothing": func(t *testing.T, s skald.Store) {
		err := s.Update(t.Context(), func(tx skald.Tx) error {
			_ = tx.AppendTurns(chat, turns(1, 1))
			panic("boom")
		})
		wantKind(t, "panic", err, skald.KindInternal)
		same(t, "after the panic", snapshot(t, s), state{})
	},
	"ReadsSeeOwnWrites": func(t *testing.T, s skald.Store) {
		var inside state
		update(t, s, func(tx skald.Tx) error {
			if err := writeEverything(tx); err != nil {
				return err
			}
			var err error
			inside, err = readState(tx)
			return err
		})
		same(t, "inside and after", snapshot(t, s), inside)
	},
	"ViewIsASnapshot": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, turns(1, 2)) })
		view(t, s, func(tx skald.Tx) error {
			before, err := readState(tx)
			if err != nil {
				return err
			}
			update(t, s, func(w skald.Tx) error { return w.AppendTurns(chat, turns(3, 4)) })
			update(t, s, func(w skald.Tx) error { return w.PutSession(skald.Session{Ref: chat}) })
			after, err := readState(tx)
			same(t, "second read in one view", after, before)
			return err
		})
		_, last, _ := lastLink(t, s)
		same(t, "last sequence", last, int64(4))
	},
	"ViewBeginsWithTheCall": func(t *testing.T, s skald.Store) {
		view(t, s, func(tx skald.Tx) error {
			update(t, s, func(w skald.Tx) error { return w.AppendTurns(chat, turns(1, 1)) })
			list, err := tx.Turns(chat, skald.TurnQuery{})
			same(t, "turns", list, []skald.Turn(nil))
			return err
		})
	},
	"ViewCannotWrite": func(t *testing.T, s skald.Store) {
		view(t, s, func(tx skald.Tx) error {
			for name, err := range map[string]error{
				"PutSession": tx.PutSession(skald.Session{Ref: chat}), "DeleteSession": tx.DeleteSession(chat), "AppendTurns": tx.AppendTurns(chat, turns(1, 1)),
				"UpdateTurn": tx.UpdateTurn(chat, turn(1)), "ReplaceRaw": tx.ReplaceRaw(chat, turn(1)),
				"PutTurnKey": tx.PutTurnKey(chat, "k", skald.TurnRange{}), "PutRecall": tx.PutRecall(chat, skald.PlacedRecall{}),
				"PutDeadLetter": tx.PutDeadLetter(skald.DeadLetter{Session: chat}), "PutArchive": tx.PutArchive(skald.Archive{Session: chat}),
				"PutCheckpoint": tx.PutCheckpoint(chat, skald.CompactCheckpoint{}), "PutMemory": tx.PutMemory(skald.Memory{Scope: alice, URI: "viking://x"}),
				"DeleteMemory": tx.DeleteMemory(alice, "viking://x"), "PutDocs": tx.PutDocs([]skald.Doc{{Scope: alice}}),
				"DeleteTurnDocs": tx.DeleteTurnDocs(chat, 1, 2), "DeleteURIDocs": tx.DeleteURIDocs(alice, "viking://x"),
				"DeleteArchiveDocs": tx.DeleteArchiveDocs(chat, 1), "PutTrace": tx.PutTrace(chat, skald.Trace{}),
				"DeleteTraces": tx.DeleteTraces(chat, "x"),
				"PutJob":       tx.PutJob(skald.Job{Key: "k"}), "DeleteJob": tx.DeleteJob(1),
			} {
				wantKind(t, name, err, skald.KindInvalid)
			}
			_, _, err := tx.ClaimJob(at(0), time.Minute)
			wantKind(t, "ClaimJob", err, skald.KindInvalid)
			return nil
		})
		same(t, "after the view", snapshot(t, s), state{})
	},
	"TxEndsWithItsFunction": func(t *testing.T, s skald.Store) {
		var leaked []skald.Tx
		keep := func(tx skald.Tx) error { leaked = append(leaked, tx); return nil }
		update(t, s, keep)
		view(t, s, keep)
		for _, tx := range leaked {
			_, err := tx.Turns(chat, skald.TurnQuery{})
			wantKind(t, "reading", err, skald.KindInvalid)
			wantKind(t, "writing", tx.PutSession(skald.Session{Ref: chat}), skald.KindInvalid)
		}
	},
	"CancelledContext": func(t *testing.T, s skald.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ran := false
		fn := func(skald.Tx) error { ran = true; return nil }
		if err := s.Update(ctx, fn); !errors.Is(err, context.Canceled) {
			t.Errorf("Update: %v", err)
		}
		if err := s.View(ctx, fn); !errors.Is(err, context.Canceled) {
			t.Errorf("View: %v", err)
		}
		if ran {
			t.Error("a closure ran under a cancelled context")
		}
	},
	"CancelDuringUpdateIsAllOrNothing": func(t *testing.T, s skald.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := s.Update(ctx, func(tx skald.Tx) error {
			if err := tx.AppendTurns(chat, turns(1, 2)); err != nil {
				return err
			}
			cancel()
			return tx.PutTurnKey(chat, "k", skald.TurnRange{StartSequence: 1, EndSequence: 2})
		})
		_, last, _ := lastLink(t, s)
		_, found, _ := turnKey(t, s, chat, "k")
		if (err == nil) != (last == 2) || (err == nil) != found {
			t.Errorf("Update returned %v, but last sequence is %d and the key is stored: %t", err, last, found)
		}
	},
	"ConcurrentAppendsLoseNothing": func(t *testing.T, s skald.Store) {
		const writers, each = 16, 12
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					appendNext(t, s, fmt.Sprintf("%d/%d", w, i))
				}
			})
			wg.Go(func() { // readers never see a gap, nor wait for writers
				for range each {
					list := read(t, s, func(tx skald.Tx) ([]skald.Turn, error) { return tx.Turns(chat, skald.TurnQuery{}) })
					for i, turn := range list {
						if turn.Seq != int64(i+1) {
							t.Errorf("gap at %d", i)
						}
					}
				}
			})
		}
		wg.Wait()
		seen := map[string]bool{}
		for _, turn := range read(t, s, func(tx skald.Tx) ([]skald.Turn, error) { return tx.Turns(chat, skald.TurnQuery{}) }) {
			seen[turn.EntryID] = true
		}
		same(t, "turns stored", len(seen), writers*each)
	},
	"FailuresInAGroupStayAlone": func(t *testing.T, s skald.Store) {
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				ref := skald.SessionRef{Scope: alice, ID: fmt.Sprintf("s%d", i)}
				err := s.Update(t.Context(), func(tx skald.Tx) error {
					if err := tx.AppendTurns(ref, turns(1, 1)); err != nil {
						return err
					}
					if i%3 == 0 {
						return errUndo
					}
					return tx.PutDocs([]skald.Doc{{Scope: alice, Kind: skald.DocTurn, Session: ref.ID, Seq: 1, Terms: []string{"word"}, Length: 1}})
				})
				if (i%3 == 0) != (err != nil) {
					t.Errorf("update %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		h, err := s.Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "turns and docs", []int64{h.Turns, h.Docs}, []int64{40, 40})
		res := read(t, s, func(tx skald.Tx) (skald.SearchResult, error) {
			return tx.Search(skald.SearchQuery{Scopes: []skald.Scope{alice}, Terms: []string{"word"}})
		})
		same(t, "hits", len(res.Hits), 40)
	},
	"Health": func(t *testing.T, s skald.Store) {
		update(t, s, writeEverything)
		h, err := s.Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if h.Engine == "" || h.Schema < 1 || !h.Writing || h.Turns != 3 || h.Docs != 4 {
			t.Errorf("health: %+v", h)
		}
	},
	"ClosedStoreAnswersUnavailable": func(t *testing.T, s skald.Store) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		fn := func(skald.Tx) error { return nil }
		wantKind(t, "View", s.View(t.Context(), fn), skald.KindUnavailable)
		wantKind(t, "Update", s.Update(t.Context(), fn), skald.KindUnavailable)
		if err := s.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
	},
}

// appendNext appends one turn the way the engine does: read the last sequence, then append.
func appendNext(t *testing.T, s skald.Store, id string) {
	update(t, s, func(tx skald.Tx) error {
		_, last, err := tx.LastLink(chat)
		if err != nil {
			return err
		}
		next := turn(last + 1)
		next.EntryID = id
		return tx.AppendTurns(chat, []skald.Turn{next})
	})
}

func lastLink(t *testing.T, s skald.Store) (link []byte, seq int64, err error) {
	view(t, s, func(tx skald.Tx) error {
		link, seq, err = tx.LastLink(chat)
		return err
	})
	return link, seq, err
}

func turnKey(t *testing.T, s skald.Store, ref skald.SessionRef, key string) (r skald.TurnRange, found bool, err error) {
	view(t, s, func(tx skald.Tx) error {
		r, found, err = tx.TurnKey(ref, key)
		return err
	})
	return r, found, err
}

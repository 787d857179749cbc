package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/sqlite"
)

var errInjected = errors.New("injected")

// nth fails the n-th call; 0 none.
type nth struct{ calls, at atomic.Int64 }

func (n *nth) fault(op string) error {
	if strings.HasPrefix(op, "view.") || n.at.Load() == 0 {
		return nil
	}
	if n.calls.Add(1) == n.at.Load() {
		return fmt.Errorf("%s: %w", op, errInjected)
	}
	return nil
}

func (n *nth) arm(at int64) { n.calls.Store(0); n.at.Store(at) }

var chat = skald.SessionRef{Scope: scope, ID: "chat"}

// exchange stores two turns with all that belongs to them.
func exchange(tx skald.Tx, seq int64) error {
	uri := skald.URI(fmt.Sprintf("viking://user/alice/memories/%d.md", seq))
	doc := skald.Doc{Scope: scope, Kind: skald.DocTurn, Session: chat.ID, Seq: seq, Terms: []string{"word"}, Length: 1}
	for _, err := range []error{
		tx.AppendTurns(chat, []skald.Turn{newTurn(seq, []byte("a")), newTurn(seq+1, []byte("b"))}),
		tx.PutSession(skald.Session{Ref: chat, LastSeq: seq + 1}),
		tx.PutTurnKey(chat, fmt.Sprint(seq), skald.TurnRange{StartSequence: seq, EndSequence: seq + 1}),
		tx.PutArchive(skald.Archive{Session: chat, Index: int(seq)}),
		tx.PutMemory(skald.Memory{Scope: scope, URI: uri, Sources: []skald.MemorySource{{Session: chat, From: seq, To: seq}}}),
		tx.PutDocs([]skald.Doc{doc}),
		tx.DeleteTurnDocs(chat, seq-2, seq-2),
		tx.PutDocs([]skald.Doc{doc}),
		tx.PutTrace(chat, skald.Trace{AfterSeq: seq}),
		tx.PutJob(skald.Job{Key: fmt.Sprint(seq), Session: chat, State: skald.JobReady}),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// seen is what an exchange changes.
func seen(t *testing.T, s skald.Store) (v [8]int64) {
	t.Helper()
	err := s.View(t.Context(), func(tx skald.Tx) error {
		turns, err1 := tx.Turns(chat, skald.TurnQuery{})
		session, _ := tx.Session(chat)
		archives, err2 := tx.Archives(chat, 0)
		memories, err3 := tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scope}, Source: &chat})
		res, err4 := tx.Search(skald.SearchQuery{Scopes: []skald.Scope{scope}, Terms: []string{"word"}})
		traces, err5 := tx.Traces(chat, skald.TraceQuery{})
		jobs, err6 := tx.Jobs(nil, 0)
		if int64(len(res.Hits)) != res.Docs || res.DF["word"] != res.Docs {
			t.Errorf("%d hits, %d docs, df %v", len(res.Hits), res.Docs, res.DF)
		}
		v = [8]int64{int64(len(turns)), session.LastSeq, int64(len(archives)), int64(len(memories)), int64(len(res.Hits)), res.Docs, int64(len(traces)), int64(len(jobs))}
		return errors.Join(err1, err2, err3, err4, err5, err6)
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEveryFailingStatementLeavesNothing fails the first, second, … statement of an update, commit included, until one goes
// through; after each nothing is half there, and what fn does with the error makes no difference.
func TestEveryFailingStatementLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, swallow := range []bool{false, true} {
		var faults nth
		dir := t.TempDir()
		s := open(t, dir, sqlite.Options{NoSync: true, Fault: faults.fault})
		if err := s.Update(t.Context(), func(tx skald.Tx) error { return exchange(tx, 1) }); err != nil {
			t.Fatal(err)
		}
		before := seen(t, s)
		n := int64(1)
		for ; ; n++ {
			faults.arm(n)
			err := s.Update(t.Context(), func(tx skald.Tx) error {
				err := exchange(tx, 3)
				if swallow {
					return nil
				}
				return err
			})
			faults.arm(0)
			if err == nil {
				break
			}
			if !errors.Is(err, errInjected) || skald.KindOf(err) != skald.KindUnavailable {
				t.Fatalf("statement %d: %v (%s)", n, err, skald.KindOf(err))
			}
			if d := cmp.Diff(before, seen(t, s)); d != "" {
				t.Fatalf("after failing statement %d: %s", n, d)
			}
		}
		if n < 20 {
			t.Errorf("only %d statements were seen", n)
		}
		after := seen(t, s)
		if after[0] != 4 {
			t.Errorf("after success: %v", after)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(after, seen(t, open(t, dir, sqlite.Options{NoSync: true}))); d != "" {
			t.Errorf("after reopening: %s", d)
		}
	}
}

// TestFailedCommitFailsItsGroup lets every third commit fail while many write: who got nil is stored, who got an error is not.
func TestFailedCommitFailsItsGroup(t *testing.T) {
	t.Parallel()
	var commits atomic.Int64
	s := open(t, t.TempDir(), sqlite.Options{NoSync: true, Fault: func(op string) error {
		if op == "commit" && commits.Add(1)%3 == 0 {
			return errInjected
		}
		return nil
	}})
	var stored sync.Map
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			key := fmt.Sprint(i)
			err := s.Update(t.Context(), func(tx skald.Tx) error { return tx.PutTurnKey(chat, key, skald.TurnRange{StartSequence: int64(i)}) })
			stored.Store(key, err == nil)
		})
	}
	wg.Wait()
	err := s.View(t.Context(), func(tx skald.Tx) error {
		for key, ok := range stored.Range {
			if _, found, err := tx.TurnKey(chat, key.(string)); err != nil || found != ok {
				t.Errorf("key %v: acknowledged %v, found %t, %v", key, ok, found, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGoexitInAnUpdate is what t.FailNow does in a closure: the writer must go on.
func TestGoexitInAnUpdate(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), sqlite.Options{NoSync: true})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.Update(t.Context(), func(tx skald.Tx) error { _ = tx.PutTurnKey(chat, "k", skald.TurnRange{}); runtime.Goexit(); return nil })
	})
	wg.Wait()
	err := s.Update(t.Context(), func(tx skald.Tx) error {
		_, found, err := tx.TurnKey(chat, "k")
		if found {
			t.Error("the ended update left its key")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSecondProcessIsToldWhoHoldsTheFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data 100%?#")
	s := open(t, dir, sqlite.Options{NoSync: true})
	if err := s.Update(t.Context(), func(tx skald.Tx) error { return exchange(tx, 1) }); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if skald.KindOf(err) != skald.KindUnavailable || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) || !strings.Contains(err.Error(), "--server") {
		t.Errorf("second opener: %v", err)
	}
	reader := open(t, dir, sqlite.Options{ReadOnly: true})
	if got := seen(t, reader); got != seen(t, s) {
		t.Errorf("the reader sees %v", got)
	}
	if err := reader.Update(t.Context(), func(skald.Tx) error { return nil }); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("Update of a reader: %v", err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "skald.db"): 0o600, filepath.Join(dir, "skald.db-wal"): 0o600} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	t.Parallel()
	t.Run("damaged", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "skald.db"), []byte(strings.Repeat("this is no database ", 500)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		if skald.KindOf(err) != skald.KindInternal || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("got %v (%s)", err, skald.KindOf(err))
		}
	})
	t.Run("newer", func(t *testing.T) {
		dir := t.TempDir()
		if err := open(t, dir, sqlite.Options{NoSync: true}).Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(filepath.Join(dir, "skald.db"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteAt([]byte{0, 0, 0, 99}, 60) // user_version in the header
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = sqlite.Open(t.Context(), dir, sqlite.Options{})
		if skald.KindOf(err) != skald.KindUnsupported || !strings.Contains(err.Error(), "newer Skald; upgrade") {
			t.Errorf("got %v (%s)", err, skald.KindOf(err))
		}
	})
	t.Run("read only and missing", func(t *testing.T) {
		_, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{ReadOnly: true})
		if skald.KindOf(err) != skald.KindNotFound {
			t.Errorf("got %v", err)
		}
	})
}

package sqlite_test

import (
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens the store in dir and closes it at the test's end.
func open(t testing.TB, dir string, options sqlite.Options) skald.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	var dirs sync.Map
	options := sqlite.Options{NoSync: true}
	fresh := func(t *testing.T) skald.Store {
		dir := t.TempDir()
		s := open(t, dir, options)
		dirs.Store(s, dir)
		return s
	}
	again := func(t *testing.T, s skald.Store) skald.Store {
		dir, _ := dirs.Load(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir.(string), options)
		dirs.Store(s, dir)
		return s
	}
	storetest.Run(t, fresh, again)
}

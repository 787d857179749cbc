package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) skald.Store { return memory.New() }, nil)
}

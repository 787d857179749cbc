package openviking_test

import (
	"context"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking/fake"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/openviking"
	"github.com/skald-engine/skald/store/storetest"
)

// TestConformance runs the suite of all stores on stores whose servers are alice's, while they deliver.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) skald.Store {
		o := options(of(new(fake.Server).Start(t)), 0)
		o.Identity = skald.Identity{Account: "acme", User: "alice", Agent: "main"}
		s := openviking.New(memory.New(), o)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { s.Run(ctx); close(done) }()
		t.Cleanup(func() { cancel(); <-done })
		return s
	}, nil)
}

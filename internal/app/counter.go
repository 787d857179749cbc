package app

import (
	"time"

	"github.com/skald-engine/skald/internal/obs"
)

// counter tells the daemon's numbers what the engine counts. Calls and stored turns are measured at the edge, by obs.Watch.
type counter struct{ numbers *obs.Metrics }

func (c counter) Count(name string, n int) {
	for range n {
		switch name {
		case "publications":
			c.numbers.Publication()
		case "commits":
			c.numbers.Commit(nil)
		}
	}
}

func (counter) Observe(string, time.Duration) {}

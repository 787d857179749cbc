// Package pinned is a context engine of one's own in under 100 lines: what the user marks with #pin stays in sight for good, under it stand
// the newest messages that fit. docs/strategies.md goes through it.
package pinned

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/slot"
	"github.com/skald-engine/skald/strategy"
)

// ID selects the engine.
const ID = "pinned"

// Register offers the engine to every host of this program.
func Register() error {
	return slot.Register(ID, func(host slot.Host) (slot.Engine, error) {
		e := engine{config{Mark: "#pin", Share: 0.2}}
		if len(host.Config) == 0 {
			return e, nil
		}
		return e, json.Unmarshal(host.Config, &e.config)
	})
}

type config struct {
	Mark  string  `json:"mark"`  // what makes a message a pin
	Share float64 `json:"share"` // of the budget that pins may take
}

type engine struct{ config }

// Info implements slot.Engine. Compaction is left to the host: see Compact.
func (engine) Info() slot.Info { return slot.Info{ID: ID, Name: "Pinned notes"} }

// Assemble implements slot.Engine. Window keeps the budget and the pairs of calls and results, the guard of the slot checks both.
func (e engine) Assemble(_ context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
	pins := message.HeadTail(e.pins(r.Tail), int(e.Share*float64(r.TokenBudget)), "")
	messages, tokens := strategy.Window(r.Tail, pins, r.TokenBudget, 8)
	return skald.AssembleResult{Messages: messages, EstimatedTokens: tokens}, nil
}

// pins collects what the user marked, each line once.
func (e engine) pins(list []json.RawMessage) string {
	var lines []string
	seen := map[string]bool{}
	for _, raw := range list {
		m, err := message.Parse(raw)
		if err != nil || m.SkaldRole() != skald.RoleUser {
			continue
		}
		for _, line := range strings.Split(m.Text(), "\n") {
			if strings.Contains(line, e.Mark) && !seen[line] {
				seen[line] = true
				lines = append(lines, "- "+line)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Compact implements slot.Compactor: an engine that does not own compaction has the host do it. To do nothing would be a fault.
func (engine) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	return slot.Delegate(ctx, r)
}

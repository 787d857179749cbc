package strategy_test

import (
	"testing"

	"github.com/skald-engine/skald/strategy"
	"github.com/skald-engine/skald/strategy/strategytest"
)

// traits says where a strategy may differ from the others; a name that is missing has none.
var traits = map[string]strategytest.Traits{
	"rag":  {Chooses: true, Moves: true},
	"task": {Chooses: true},
}

// TestStrategies runs the suite against every strategy that is offered (000, 003-010 to 003-014).
func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, name := range strategy.Names() {
		t.Run(name, func(t *testing.T) { t.Parallel(); strategytest.Run(t, name, traits[name]) })
	}
}

// TestDifference shows that the strategies differ where they should.
func TestDifference(t *testing.T) {
	t.Parallel()
	strategytest.Difference(t)
}

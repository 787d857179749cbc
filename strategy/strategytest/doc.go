// Package strategytest is the suite that every strategy passes: the invariants of the design page over random histories, budgets and
// shapes of tool calls, and the change from any strategy to any other on a stored session. It drives a whole engine, as a host would.
package strategytest

import (
	"os"
	"strconv"
	"testing"

	"github.com/skald-engine/skald/strategy"
)

// Traits are the points in which strategies may differ.
type Traits struct {
	Chooses bool // leaves older turns out by their worth, not by their age alone
	Moves   bool // the beginning of a request may change from one turn to the next without a publication
}

// shortCases is how many random histories are played per strategy, a third of them with -short; the long form has longCases
// (SKALD_STRATEGY_LONG=1).
const (
	shortCases = 60
	longCases  = 10_000
)

func cases() int {
	if long, err := strconv.ParseBool(os.Getenv("SKALD_STRATEGY_LONG")); err == nil && long {
		return longCases
	}
	if testing.Short() {
		return shortCases / 3
	}
	return shortCases
}

// Run runs the suite against the strategy of a name.
func Run(t *testing.T, name string, traits Traits) {
	t.Run("Budget", func(t *testing.T) { t.Parallel(); testBudget(t, name) })
	t.Run("TooSmall", func(t *testing.T) { t.Parallel(); testTooSmall(t, name) })
	t.Run("Order", func(t *testing.T) { t.Parallel(); testOrder(t, name, traits) })
	t.Run("Again", func(t *testing.T) { t.Parallel(); testAgain(t, name) })
	t.Run("Compact", func(t *testing.T) { t.Parallel(); testCompact(t, name) })
	if !traits.Moves {
		t.Run("Prefix", func(t *testing.T) { t.Parallel(); testPrefix(t, name) })
	}
	for _, other := range strategy.Names() {
		if other > name { // a switch goes there and back
			t.Run("SwitchTo"+other, func(t *testing.T) { t.Parallel(); testSwitch(t, name, other) })
		}
	}
}

package storetest

import (
	"testing"

	"github.com/skald-engine/skald"
)

// survivesReopen checks that everything acknowledged is there after the store was closed and opened again, and that writing
// goes on where it stopped.
func survivesReopen(t *testing.T, s skald.Store, reopen Reopen) {
	update(t, s, writeEverything)
	update(t, s, writeEverything2)
	_ = s.Update(t.Context(), func(tx skald.Tx) error { _ = tx.AppendTurns(chat, turns(6, 9)); return errUndo })
	before := snapshot(t, s)
	res := search(t, s, skald.SearchQuery{Terms: []string{"common", "alpha", "beta"}})
	s = reopen(t, s)
	same(t, "after reopening", snapshot(t, s), before)
	same(t, "search after reopening", search(t, s, skald.SearchQuery{Terms: []string{"common", "alpha", "beta"}}), res)
	update(t, s, func(tx skald.Tx) error {
		return firstError(
			func() error { return tx.AppendTurns(chat, turns(6, 7)) },
			func() error { return tx.PutDocs([]skald.Doc{turnDoc(chat, 6, "common")}) },
		)
	})
	again := search(t, s, skald.SearchQuery{Terms: []string{"common"}})
	same(t, "docs after writing again", again.Docs, res.Docs+1)
	same(t, "df after writing again", again.DF["common"], res.DF["common"]+1)
}

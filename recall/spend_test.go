package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/static"
	"github.com/skald-engine/skald/recall"
)

// TestNobodySpokeOfIt: where no word of a prompt was ever said, a meaning that is a little nearer than others is shown to nobody.
func TestNobodySpokeOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store = meaning.New(w.store, meaning.Options{Model: static.Table{}})
	for i, s := range []string{"The ferry leaves from the north pier", "Our goats had two kids in spring", "The roof was tarred again", "Mia keeps the ledger"} {
		w.say(fmt.Sprint(i), skald.RoleUser, s)
	}
	if got := texts(w.recall("Recite a limerick concerning giraffes")); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := texts(w.recall("Recite a limerick concerning goats")); !slices.Contains(got, "Our goats had two kids in spring") {
		t.Errorf("%q", got)
	}
}

// TestTail: beside a clear match what shares one frequent word with the prompt is not shown; who asks for a number of items gets them.
func TestTail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a", skald.RoleUser, "The harbour pilot's radio call sign is Cormorant Nine")
	w.chatter("c", 60)
	for i := range 12 {
		w.say(fmt.Sprint("b", i), skald.RoleUser, fmt.Sprintf("Crate %d went through the harbour and was stacked behind the old customs house with all of the others", i))
	}
	const question = "What is the radio call sign of the harbour pilot?"
	got := texts(w.recall(question))
	if len(got) != 5 || got[0] != "The harbour pilot's radio call sign is Cormorant Nine" {
		t.Errorf("%d: %q", len(got), got)
	}
	all := texts(w.recall(question, func(r *recall.Request) { r.Limit = 13 }))
	if len(all) != 13 {
		t.Errorf("%d of 13 that were asked for", len(all))
	}
}

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/openclaw"
	"github.com/skald-engine/skald/test/world"
)

// What the host has of the time before Skald comes in through the import under the same session and entry ids that the plugin delivers:
// afterwards the conversation goes on, the host repeats what it could not deliver, and nothing is there twice (PLG, I2).
func TestImportOpenClaw(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 9*time.Minute)
	const key, parted, known = "agent:main:imported", "agent:main:imported-parted", "agent:main:imported-known"

	turn(t, ctx, w, known, "this one was told to Skald: the barge is called Linnet")
	w.Proxy.Down() // the host's own engine answers
	turn(t, ctx, w, key, "our reading room opens at nine; the librarian is Orla")
	turn(t, ctx, w, key, "a long one, which the host compresses:"+strings.Repeat(" the shelves by the window hold maps.", 120))
	turn(t, ctx, w, parted, "before the reset the colour was amber")
	reset(t, ctx, w, parted)
	turn(t, ctx, w, parted, "after the reset the colour is teal")
	if err := w.Proxy.Up(); err != nil {
		t.Fatal(err)
	}

	first := importHost(t, ctx, w, false)
	for _, k := range []string{key, parted} {
		if c := conversation(t, first, k); c.Imported == 0 || c.Imported != c.Messages || !c.Live {
			t.Errorf("%s: %+v", k, c)
		}
		sameAsHost(t, ctx, w, k)
	}
	if c := conversation(t, first, known); c.Imported != 0 || c.Known != c.Messages || c.Known == 0 {
		t.Errorf("what the plugin delivered is imported once more: %+v", c)
	}
	found, err := w.Client.Find(ctx, world.Identity, skald.FindQuery{Query: "who is the librarian of the reading room"})
	if err != nil || !slices.ContainsFunc(found.Hits, func(h skald.RecallCandidate) bool { return strings.Contains(h.Text, "Orla") }) {
		t.Errorf("imported history is not found: %+v, %v", found.Hits, err)
	}
	want := []string{"before the reset the colour was amber:1", "after the reset the colour is teal:2"}
	if diff := cmp.Diff(want, epochs(stored(t, ctx, w, parted))); diff != "" {
		t.Errorf("epochs (-want +got)\n%s", diff)
	}

	// The plugin goes on, with the turns that it owes.
	for _, k := range []string{key, parted, known} {
		turn(t, ctx, w, k, "and now we go on with Skald")
		turn(t, ctx, w, k, "still going on")
		eventually(t, 30*time.Second, k+" is whole", func() bool { return agrees(t, ctx, w, k) })
		sameAsHost(t, ctx, w, k)
	}
	if got := epochs(stored(t, ctx, w, parted)); len(got) != 4 || !strings.HasSuffix(got[3], ":2") {
		t.Errorf("going on began another epoch: %v", got)
	}
	for _, dry := range []bool{true, false} {
		again := importHost(t, ctx, w, dry)
		for _, k := range []string{key, parted, known} {
			if c := conversation(t, again, k); c.Imported != 0 || c.Known != c.Messages {
				t.Errorf("dry run %v, %s: %+v", dry, k, c)
			}
			sameAsHost(t, ctx, w, k)
		}
	}
}

func importHost(t *testing.T, ctx context.Context, w *world.World, dry bool) ingest.Report {
	t.Helper()
	source, err := openclaw.Open(ctx, []string{w.Gateway.StateDir()}, ingest.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := ingest.Import(ctx, w.Client, w.Client, source, ingest.Options{Identity: world.Identity, DryRun: dry})
	if err != nil || !report.Complete {
		t.Fatalf("%+v, %v", report, err)
	}
	return report
}

// conversation is the report on the key's current session.
func conversation(t *testing.T, r ingest.Report, key string) ingest.ConversationReport {
	t.Helper()
	for _, c := range r.Conversations {
		if c.Origin == key {
			return c
		}
	}
	t.Fatalf("%s is not among %d conversations", key, len(r.Conversations))
	return ingest.ConversationReport{}
}

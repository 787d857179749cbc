package backend_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	skald "github.com/skald-engine/skald"
)

// ASM-08 and ARC-02: a summary stands for its messages, once; what has no summary is shown raw.
func TestContext(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 10)
	d.commit("s", "")
	pending := d.context("s", "")
	d.same("pending archive: raw", pending.count(), 10)
	d.same("pending archive: no overview", pending["latest_archive_overview"], "")
	d.jobs()
	done := d.context("s", "")
	d.same("done: no messages", done.count(), 0)
	d.has("done: overview", done["latest_archive_overview"].(string), "Lisbon")
	d.same("raw by an explicit read", d.get("/api/v1/sessions/s/archives/archive_001").count(), 10)
	d.say("s", "user", "next")
	next := d.context("s", "")
	d.same("next", next.texts(), "next\n")
	d.has("next: overview", next["latest_archive_overview"].(string), "Lisbon")

	d.talk("s", 11, 4)
	d.commit("s", "")
	d.setArchive("s", skald.ArchiveFailed, skald.JobFailed)
	failed := d.context("s", "")
	d.same("failed archive: raw", failed.count(), 5)
	d.has("failed archive: the overview before it", failed["latest_archive_overview"].(string), "archive_001")
	d.say("s", "user", "more")
	d.commit("s", "")
	d.jobs()
	both := d.context("s", "")
	d.same("all done", both.count(), 0)
	d.has("all done: older archives", fmt.Sprint(both["pre_archive_abstracts"]), "archive_001", "archive_002")
}

// TOK-06: whatever the budget, the answer keeps it, and says what it cut.
func TestContextBudget(t *testing.T) {
	t.Parallel()
	d := start(t)
	for i := range 12 {
		d.talk("s", 2*i+1, 2)
		d.commit("s", "")
		d.jobs()
	}
	d.longOverview("s", 30_000)
	d.say("s", "user", "Where do we stand? "+strings.Repeat("long question ", 400))
	d.say("s", "assistant", strings.Repeat("long answer ", 2000))
	for _, budget := range []int{128_000, 8000, 2000, 500, 100, 10, 0} {
		c := d.context("s", fmt.Sprintf("?token_budget=%d", budget))
		if n := int(c["estimatedTokens"].(float64)); n > budget {
			t.Errorf("budget %d: %d tokens", budget, n)
		}
		if text := len(c.texts()) / 4; text > budget {
			t.Errorf("budget %d: %d tokens of text", budget, text)
		}
		stats := c["stats"].(map[string]any)
		d.same("tokens", stats["activeTokens"].(float64)+stats["archiveTokens"].(float64), c["estimatedTokens"])
		d.same("archives", stats["includedArchives"].(float64)+stats["droppedArchives"].(float64), 12)
		if budget >= 500 {
			d.has(fmt.Sprint(budget), c.texts(), "Where do we stand?")
			d.has(fmt.Sprint(budget), fmt.Sprint(c["latest_archive_overview"]), "archive_012")
		}
		if budget == 500 || budget == 2000 {
			d.has("what was cut", fmt.Sprint(c), "omitted; whole text: viking://user/ann/sessions/s/turns/2")
		}
	}
	d.has("what was cut", d.context("s", "?token_budget=500")["latest_archive_overview"].(string), "lines left out; the whole: viking://")
	d.fails(400, "GET", "/api/v1/sessions/s/context?token_budget=-1", "")
}

// longOverview gives the newest archive an overview of about n tokens.
func (d daemon) longOverview(session string, n int) {
	d.Helper()
	ref := skald.SessionRef{Scope: skald.Policy{}.UserScope(ann), ID: session}
	err := d.store.Update(context.Background(), func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		if err != nil {
			return err
		}
		a, err := tx.Archive(ref, s.Archives)
		if err != nil {
			return err
		}
		line := skald.Line{Text: "the warehouse is moved to another port near Hamburg because of costs", Time: now, From: a.From, To: a.To}
		a.Overview = []skald.Section{{Title: "Decisions", Lines: slices.Repeat([]skald.Line{line}, n/25)}}
		return tx.PutArchive(a)
	})
	if err != nil {
		d.Fatal(err)
	}
}

// Older exchanges leave as wholes, the oldest first.
func TestContextKeepsTheNewestExchanges(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 40)
	c := d.context("s", "?token_budget=1000")
	n := c.count()
	if n == 0 || n >= 40 || n%2 != 0 {
		t.Fatalf("%d messages", n)
	}
	d.has("the newest", c.texts(), "Message 40:", fmt.Sprintf("Message %d:", 40-n+1))
	d.same("the first", c["messages"].([]any)[0].(map[string]any)["role"], "user")
}

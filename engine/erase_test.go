package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/sqlite"
)

const secret = "We decided that the spare key of the boat house lies under the third blue flower pot behind the shed."

// rooms has the secret said, repeated in another session, summarised, extracted, published and recalled.
func rooms(t *testing.T, store skald.Store) *host {
	h := newHostOver(t, store)
	other := h.session("agent:main:other")
	for _, one := range []*host{h, other} {
		one.say(secret, "Noted: the spare key of the boat house lies under the third blue flower pot behind the shed.")
		for range 6 {
			one.say("I prefer tea, never coffee, in the morning.", "Tea it is.")
		}
		one.compact()
		one.jobs()
	}
	h.assemble("Where does the spare key of the boat house lie?")
	return h
}

func (h *host) forget(what string, purge, dry bool) skald.ForgetReceipt {
	h.t.Helper()
	r, err := h.e.ForgetSource(context.Background(), h.identity(), skald.ForgetRequest{What: what, Purge: purge, DryRun: dry})
	h.must(err)
	return r
}

func (h *host) verified() {
	h.t.Helper()
	v, err := h.e.Verify(context.Background(), h.identity(), "")
	h.must(err)
	if !v.OK {
		h.t.Errorf("verify: %v", v.Problems)
	}
}

// TestPurgeLeavesNoEightWords: after a purge no run of eight words of the text stands in any file of the store, and all verifies.
func TestPurgeLeavesNoEightWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := sqlite.Open(context.Background(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := rooms(t, store)
	first := string(h.ref().TurnsURI(1, 1))
	dry := h.forget(first, true, true)
	if len(dry.Turns) < 4 || !dry.DryRun || !strings.Contains(h.find("spare key boat house"), "flower pot") {
		t.Errorf("dry run: %+v", dry)
	}
	done := h.forget(first, true, false)
	if len(done.Turns) != len(dry.Turns) || len(done.Archives) == 0 || len(done.Unreached) == 0 {
		t.Errorf("%+v\nafter %+v", done, dry)
	}
	if strings.Contains(h.find("spare key boat house"), "flower pot") {
		t.Error("it is still found")
	}
	if turns := h.turns(); !turns[0].Purged || turns[2].Purged {
		t.Error("what was purged is not what was named")
	}
	h.verified()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(secret)
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for i := 0; i+8 <= len(words); i++ {
			if run := strings.Join(words[i:i+8], " "); strings.Contains(string(raw), run) {
				t.Errorf("%s holds %q", filepath.Base(path), run)
			}
		}
		return err
	})
}

// TestForgetTurns: what is forgotten comes up nowhere, is not extracted again, and stays readable by its URI.
func TestForgetTurns(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.say(secret, "Noted.")
	h.say("I prefer tea, never coffee, in the morning.", "Tea it is.")
	h.compact()
	r := h.forget(string(h.ref().TurnsURI(1, 1)), false, false)
	if len(r.Turns) != 1 || r.Purged {
		t.Errorf("%+v", r)
	}
	h.compact()
	h.jobs()
	if found := h.find("spare key boat house"); strings.Contains(found, "flower pot") {
		t.Errorf("found: %s", found)
	}
	x, err := h.e.Expand(context.Background(), h.identity(), string(r.Turns[0]), "", 0)
	if err != nil || !strings.Contains(x.Turns[0].Text, "flower pot") {
		t.Errorf("%+v, %v", x, err)
	}
	h.verified()
}

func TestForgetNamesChoices(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, where := range []string{"cellar", "attic"} {
		h.say("The ladder with seven steps stands in the "+where+".", "Noted.")
	}
	r := h.forget("ladder with seven steps", true, false)
	if r.URI != "" || len(r.Choices) < 2 || h.turns()[0].Purged {
		t.Errorf("%+v", r)
	}
	for _, what := range []string{"", "viking://~/sessions/" + h.id(), "viking://~/memories/nothing.md"} {
		if _, err := h.e.ForgetSource(context.Background(), h.identity(), skald.ForgetRequest{What: what}); err == nil {
			t.Errorf("%q was forgotten", what)
		}
	}
}

package trial

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

// small is a budget that ten exchanges of filler fill.
const small = 1500

// TestFactSaidAgain: a fact that legacy lost and Skald brings for the rest of the prompt counts, with both turns to check.
func TestFactSaidAgain(t *testing.T) {
	t.Parallel()
	a := newTalk("a.jsonl").user("Our staging database listens on port 5433 of host moss-12.").agent("Noted.").shelves(90).
		user("The staging database listens on port 5433. Where does the host of our staging database stand?").agent("On moss-12.")
	r := run(t, Options{Budget: 12_000}, a)
	if r.Avoided.Facts != 1 || len(r.Facts) != 1 {
		t.Fatalf("avoided %+v, facts %+v", r.Avoided, r.Facts)
	}
	f := r.Facts[0]
	if !f.Counted || f.Now.Turn != 182 || f.Earlier.Turn != 0 || f.What[0] != "5433" || f.Now.Text != "The staging database listens on port 5433." || f.Tokens == 0 {
		t.Errorf("fact: %+v", f)
	}
	if r.Sessions[0].Facts != 1 || r.Legacy.OutOfView == 0 || r.Legacy.Changes == 0 {
		t.Errorf("report: %+v, legacy %+v", r.Sessions[0].Facts, r.Legacy)
	}
}

// TestFactInAnotherSession: what was said in an earlier session is lost to legacy, and recalled by Skald.
func TestFactInAnotherSession(t *testing.T) {
	t.Parallel()
	a := newTalk("a.jsonl").user("Our staging database listens on port 5433 of host moss-12.").agent("Noted.")
	b := newTalk("b.jsonl")
	b.at = a.at.Add(48 * time.Hour)
	b.user("As I said, the staging database listens on port 5433. Please connect to the staging database.").agent("Connected.")
	r := run(t, Options{}, a, b)
	if r.Avoided.Facts != 1 || r.Facts[0].Why != cameAlone || r.Facts[0].Cue != "As I said" || r.Facts[0].Earlier.Session != 1 || r.Facts[0].Now.Session != 2 {
		t.Errorf("avoided %+v, facts %+v", r.Avoided, r.Facts)
	}
}

// TestOwnNotesAreKnown: what stands in the host's own memory files is not lost to it.
func TestOwnNotesAreKnown(t *testing.T) {
	t.Parallel()
	a := newTalk("a.jsonl").user("Our staging database listens on port 5433 of host moss-12.").agent("Noted.")
	b := newTalk("b.jsonl")
	b.at = a.at.Add(48 * time.Hour)
	b.user("As I said, the staging database listens on port 5433. Please connect to the staging database.").agent("Connected.")
	notes := newTalk("workspace/MEMORY.md").user("- staging database: port 5433")
	if r := run(t, Options{}, a, b, notes); len(r.Facts) != 0 || len(r.Sessions) != 2 {
		t.Errorf("%d sessions, facts %+v", len(r.Sessions), r.Facts)
	}
}

// TestRepetitionAloneDoesNotCount: where nothing but the repetition itself leads Skald to the fact, nothing would have been avoided.
func TestRepetitionAloneDoesNotCount(t *testing.T) {
	t.Parallel()
	a := newTalk("a.jsonl").user("The locker of my gym has the code 84-2291.").agent("Noted.")
	b := newTalk("b.jsonl")
	b.at = a.at.Add(48 * time.Hour)
	b.user("The locker of my gym has the code 84-2291.").agent("I see.")
	if r := run(t, Options{}, a, b); r.Avoided.Facts != 0 || r.Avoided.FactsOnlyNow != 1 || r.Facts[0].Counted {
		t.Errorf("avoided %+v, facts %+v", r.Avoided, r.Facts)
	}
}

// TestNothingWasLost: what legacy still shows was not lost, whatever the user repeats and the agent reads.
func TestNothingWasLost(t *testing.T) {
	t.Parallel()
	a := newTalk("a.jsonl").user("Our staging database listens on port 5433.").agent("Noted.").
		user("What does the configuration hold?").tool("read", `{"path":"config.toml"}`, config).agent("A port.").filler(3).
		user("As I said, the staging database listens on port 5433. Which port does our staging database have?").
		tool("read", `{"path":"config.toml"}`, config).agent("5433.")
	r := run(t, Options{}, a)
	if len(r.Facts) != 0 || len(r.Rereads) != 0 || r.Legacy.OutOfView != 0 || r.Legacy.Kept != 1 || r.Skald.Kept != 1 {
		t.Errorf("facts %+v, rereads %+v, legacy %+v, skald %+v", r.Facts, r.Rereads, r.Legacy, r.Skald)
	}
}

const config = "[database]\nport = 5433\nhost = moss\n[web]\nlisten = 127.0.0.1\n"

// TestReadAgain: a file that was read, lost to legacy and read again unchanged is reported with what it cost.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	a := newTalk("a.jsonl").user("What does the configuration hold?").tool("read", `{"path":"config.toml"}`, config).agent("A port.").filler(30).
		user("Which host do we have there?").tool("read", `{"path":"./config.toml"}`, config).agent("moss.")
	r := run(t, Options{Budget: small}, a)
	if len(r.Rereads) != 1 || r.Rereads[0].Kind != kindFile || r.Rereads[0].Tokens < 30 || r.Rereads[0].Earlier.Turn != 1 {
		t.Fatalf("rereads %+v", r.Rereads)
	}
	if r.Avoided.Rereads+r.Avoided.Expandable != 1 || r.Avoided.RereadTokens+r.Avoided.ExpandTokens != r.Rereads[0].Tokens {
		t.Errorf("avoided %+v", r.Avoided)
	}
}

// TestNoReadAgain: none of these is a waste.
func TestNoReadAgain(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*talk){
		"the result differs": func(x *talk) {
			x.user("Which host do we have there?").tool("read", `{"path":"config.toml"}`, config+"port = 1\n")
		},
		"it was written in between": func(x *talk) {
			x.user("Set the host.").tool("edit", `{"path":"config.toml","old":"a","new":"b"}`, "ok").agent("Done.").
				user("Which host do we have there?").tool("read", `{"path":"config.toml"}`, config)
		},
		"a command may have changed it": func(x *talk) {
			x.user("Set the host.").tool("bash", `{"command":"./setup.sh config.toml"}`, "ok").agent("Done.").
				user("Which host do we have there?").tool("read", `{"path":"config.toml"}`, config)
		},
		"the user wants it": func(x *talk) {
			x.user("Read config.toml again, please").tool("read", `{"path":"config.toml"}`, config)
		},
		"a poll": func(x *talk) {
			x.user("[heartbeat] Read HEARTBEAT.md if it exists.").tool("read", `{"path":"config.toml"}`, config)
		},
		"another part": func(x *talk) {
			x.user("Which host do we have there?").tool("read", `{"path":"config.toml","offset":40}`, config)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTalk("a.jsonl").user("What does the configuration hold?").tool("read", `{"path":"config.toml"}`, config).agent("A port.").filler(20)
			again(a)
			if r := run(t, Options{Budget: small}, a.agent("moss.")); len(r.Rereads) != 0 {
				t.Errorf("rereads %+v", r.Rereads)
			}
		})
	}
}

// TestBudgetHolds: neither way goes over the budget (I6), at any size, and both see the same requests.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	for _, budget := range []int{400, 1500, 6000, 0} {
		a := newTalk("a.jsonl").filler(10).user("Look").tool("bash", `{"command":"cat big.log"}`, strings.Repeat("line of a log\n", 400)).agent("Long.").filler(40)
		r := run(t, Options{Budget: budget}, a)
		for name, f := range map[string]Figures{"legacy": r.Legacy, "skald": r.Skald} {
			if f.Largest > r.Budget {
				t.Errorf("budget %d: %s has a request of %d tokens", r.Budget, name, f.Largest)
			}
		}
		if r.Legacy.Requests+r.Legacy.OverWindow < r.Exchanges || r.Exchanges != 51 {
			t.Errorf("budget %d: %d exchanges, %+v", budget, r.Exchanges, r.Legacy)
		}
	}
}

// TestOverlappingSessions: sessions are played by the time of their exchanges: one does not know
// what another says later, although it began earlier.
func TestOverlappingSessions(t *testing.T) {
	t.Parallel()
	long := newTalk("long.jsonl").user("Good morning to you all").agent("Hello.")
	other := newTalk("other.jsonl")
	other.at = long.at.Add(time.Hour)
	other.user("As I said, the staging database listens on port 5433. Connect to the staging database.").agent("Done.")
	long.at = other.at.Add(time.Hour)
	long.user("Our staging database listens on port 5433.").agent("Noted.")
	r := run(t, Options{}, long, other)
	if len(r.Facts) != 1 || r.Facts[0].Counted || r.Facts[0].Now.Session != 1 || r.Facts[0].Earlier.Session != 2 {
		t.Errorf("facts %+v", r.Facts)
	}
}

func TestLimitAndSince(t *testing.T) {
	t.Parallel()
	var list []*talk
	for i := range 5 {
		x := newTalk(fmt.Sprintf("s%d.jsonl", i))
		x.at = x.at.AddDate(0, 0, i)
		list = append(list, x.filler(2))
	}
	if r := run(t, Options{Limit: 2}, list...); len(r.Sessions) != 2 || r.Sessions[0].Origin != "s3.jsonl" || r.Skipped != 12 {
		t.Errorf("limit: %d sessions, %d skipped", len(r.Sessions), r.Skipped)
	}
	since := list[4].at.Add(-time.Hour)
	if r := run(t, Options{Since: since}, list...); len(r.Sessions) != 1 || r.Sessions[0].Origin != "s4.jsonl" {
		t.Errorf("since: %+v", r.Sessions)
	}
	_, err := Run(context.Background(), ways(t), talks(list), Options{Identity: skald.DefaultIdentity, Since: since.AddDate(1, 0, 0)})
	if skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("nothing to play: %v", err)
	}
}

// TestNoNetwork: nothing that a trial is made of can open a connection.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if p == "net" || strings.HasPrefix(p, "net/http") || strings.HasPrefix(p, "golang.org/x/net") {
			t.Errorf("the package trial can reach the network: it depends on %s", p)
		}
	}
}

package openviking_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking/fake"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/openviking"
)

// impatient gives up an answer after a short while, so that delays cost little.
func impatient(o *openviking.Options) {
	o.Client = options(remote{o.Client.URL(), fake.Key}, 300*time.Millisecond).Client
}

func patient(*openviking.Options) {}

// TestFaults lets every kind of fault happen to every request of a short life, one fault at a time in turn.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault := fake.DropEarly; fault < fake.Faults; fault++ {
		t.Run(fmt.Sprint(int(fault)), func(t *testing.T) {
			t.Parallel()
			server := &fake.Server{Extract: likes, Polls: 1}
			server.Start(t)
			n := 0
			server.SetFault(func(*http.Request) fake.Fault {
				if n++; n%2 == 1 {
					return fault
				}
				return fake.None
			})
			temper := patient
			if fault == fake.Delay {
				temper = impatient
			}
			d := start(t, of(server), nil, temper)
			live(d)
			server.SetFault(nil)
			d.drained()
			check(t, server, d, fault == fake.Twice)
		})
	}
}

// live is a short life of a session.
func live(d *daemon) {
	d.say(key, user("Anna likes green tea"), reply("Noted"))
	d.say(key, user("Bob likes cold coffee"), reply("I see"), user("and"), reply("so on"))
	d.compact(key)
	d.say(key, odd...)
	d.compact(key)
	d.say(key, user("Bye"), reply("Bye"))
}

// check fails unless the server has each turn once, in order, archived as here, and gives back what was stored. twice: the network itself has
// delivered requests twice, which nobody can undo on a server without idempotency keys; a rebuild takes each turn once even then.
func check(t testing.TB, server *fake.Server, d *daemon, twice bool) {
	t.Helper()
	stored := turns(t, d.local, ref(key))
	var want []string
	for _, x := range stored {
		want = append(want, fmt.Sprint(x.Seq))
	}
	got := carried(server.Messages(ref(key).ID))
	if twice {
		slices.SortStableFunc(got, func(a, b string) int { return number(a) - number(b) })
		got = slices.Compact(got)
	}
	same(t, "sequences on the server", got, want)
	if !twice {
		same(t, "archives on the server", server.Archives(ref(key).ID), len(archives(t, d.local, ref(key))))
	}
	again := d.rebuildsTo(of(server))
	uris := func(s skald.Store) (out []skald.URI) {
		for _, m := range memories(t, s) {
			if strings.Contains(string(m.URI), "/openviking/") {
				out = append(out, m.URI)
			}
		}
		return out
	}
	same(t, "the server's memories after a rebuild", uris(again.local), uris(d.local))
}

func number(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}

// TestSchedules runs random lives under random schedules of faults, with restarts of the daemon in between.
func TestSchedules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		server := &fake.Server{Extract: likes, Polls: rapid.IntRange(0, 3).Draw(r, "polls")}
		server.Start(t)
		faults := rapid.SliceOfN(rapid.SampledFrom([]fake.Fault{fake.None, fake.DropEarly, fake.DropLate, fake.Truncate, fake.Half, fake.Fail500,
			fake.Fail503Late, fake.Fail429}), 0, 60).Draw(r, "faults")
		n := 0
		server.SetFault(func(*http.Request) fake.Fault {
			if n++; n <= len(faults) {
				return faults[n-1]
			}
			return fake.None
		})
		local := memory.New()
		d := start(t, of(server), local)
		said := 0
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"say", "say", "say", "long", "compact", "restart"}).Draw(r, "step") {
			case "say":
				d.say(key, user(fmt.Sprintf("P%d likes tea %d", said%3, said)), reply("ok"))
			case "long":
				var many []json.RawMessage
				for i := range rapid.IntRange(40, 130).Draw(r, "messages") {
					many = append(many, user(fmt.Sprint("line ", said, i)), reply("ok"))
				}
				d.say(key, many...)
			case "compact":
				if said > 0 {
					d.compact(key)
				}
			case "restart":
				d.stop()
				before := d.said
				d = start(t, of(server), local)
				d.said = before
			}
			said++
		}
		d.drained()
		check(t, server, d, false)
		d.stop()
	})
}

// TestDownAndUp: the agent answers while the server is away, status says so, and the outbox drains itself.
func TestDownAndUp(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	server.SetDown(true)
	d := start(t, of(server), nil)
	said := []json.RawMessage{user("Are you there?"), reply("Yes")}
	d.say(key, said...)
	a, err := d.engine.Assemble(context.Background(), skald.AssembleRequest{Request: request(key), Prompt: "Really?", TokenBudget: 100_000,
		MessageCount: 2, Tail: said})
	if err != nil || len(a.Messages) < 2 {
		t.Errorf("the agent gets no context while the server is away: %d messages, %v", len(a.Messages), err)
	}
	var h skald.StoreHealth
	eventually(t, func() bool {
		h, err = d.store.Health(context.Background())
		return err == nil && h.Remote.Error != ""
	}, func() string { return "status does not tell that the server is away" })
	if h.Remote.Reachable || h.Remote.Turns != 2 || !strings.Contains(h.Remote.Error, "see that the server runs") {
		t.Errorf("status: %+v", h.Remote)
	}
	server.SetDown(false)
	d.drained()
	same(t, "delivered", carried(server.Messages(ref(key).ID)), []string{"1", "2"})
}

// TestProbe: what a server can do is asked once, and again when its version has changed.
func TestProbe(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	var mu sync.Mutex
	probes := 0
	server.SetFault(func(r *http.Request) fake.Fault {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/messages/batch") {
			probes++
		}
		return fake.None
	})
	count := func() int { mu.Lock(); defer mu.Unlock(); return probes }
	var clock struct {
		sync.Mutex
		time.Time
	}
	clock.Time = time.Now()
	d := start(t, of(server), nil, func(o *openviking.Options) {
		o.Clock = func() time.Time { clock.Lock(); defer clock.Unlock(); return clock.Time }
	})
	later := func(text string) {
		clock.Lock()
		clock.Time = clock.Add(2 * time.Minute)
		clock.Unlock()
		d.say(key, user(text))
		d.drained()
	}
	later("One")
	later("Two")
	same(t, "probes of one version", count(), 1)
	server.SetVersion("0.6.0")
	eventually(t, func() bool { later("Again"); return count() == 2 }, func() string { return "a new version is not probed" })
	later("Once more")
	same(t, "probes of two versions", count(), 2)
}

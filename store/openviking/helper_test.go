package openviking_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	client "github.com/skald-engine/skald/client/openviking"
	"github.com/skald-engine/skald/client/openviking/fake"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/openviking"
)

// remote is a server that tests talk to: the fake, or the real one.
type remote struct {
	URL, Key string
}

func of(s *fake.Server) remote { return remote{s.URL, fake.Key} }

// patience is how long a test waits for the background.
const patience = 30 * time.Second

// daemon is an engine on a store that delivers to a server.
type daemon struct {
	t      testing.TB
	local  skald.Store
	store  *openviking.Store
	engine *engine.Engine
	stop   func()
	said   int
}

// options are quick ones: a client that gives up soon, and short pauses.
func options(r remote, timeout time.Duration) openviking.Options {
	return openviking.Options{
		Client:   client.New(r.URL, client.Options{Key: r.Key, Timeout: timeout}),
		Identity: skald.DefaultIdentity, Pause: time.Millisecond, MaxPause: 20 * time.Millisecond, Poll: 20 * time.Millisecond,
	}
}

// start runs a daemon over a local store; nil makes a new one.
func start(t testing.TB, r remote, local skald.Store, change ...func(*openviking.Options)) *daemon {
	t.Helper()
	if local == nil {
		local = memory.New()
	}
	o := options(r, 5*time.Second)
	for _, c := range change {
		c(&o)
	}
	d := &daemon{t: t, local: local, store: openviking.New(local, o)}
	var err error
	if d.engine, err = engine.New(d.store, engine.Options{Recall: time.Minute}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { d.store.Run(ctx) })
	d.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(d.stop)
	return d
}

const key = "agent:main:main"

func request(sessionKey string) skald.Request {
	return skald.Request{Identity: skald.DefaultIdentity, Session: skald.SessionAddress{SessionKey: sessionKey}}
}

func ref(sessionKey string) skald.SessionRef {
	return skald.SessionRef{Scope: skald.Policy{}.UserScope(skald.DefaultIdentity), ID: skald.SessionID("", sessionKey)}
}

// user and reply are messages as the host writes them.
func user(text string) json.RawMessage { return message("user", text) }

func reply(text string) json.RawMessage { return message("assistant", text) }

func message(role, text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}, "timestamp": time.Now().UnixMilli()})
	return raw
}

// say stores an exchange of a session and returns when it is acknowledged.
func (d *daemon) say(sessionKey string, messages ...json.RawMessage) {
	d.t.Helper()
	d.said++
	_, err := d.engine.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: request(sessionKey),
		AdvancementKey: fmt.Sprintf("%p-%d", d, d.said), Messages: messages})
	if err != nil {
		d.t.Fatal(err)
	}
}

// compact archives what is open.
func (d *daemon) compact(sessionKey string) {
	d.t.Helper()
	if _, err := d.engine.Compact(context.Background(), skald.CompactRequest{Request: request(sessionKey), TokenBudget: 100_000, Force: true,
		Trigger: "manual"}); err != nil {
		d.t.Fatal(err)
	}
}

// drained waits until the server lacks nothing.
func (d *daemon) drained() {
	d.t.Helper()
	var last *skald.RemoteHealth
	eventually(d.t, func() bool {
		h, err := d.store.Health(context.Background())
		if err != nil {
			d.t.Fatal(err)
		}
		last = h.Remote
		return d.store.Rebuilt(expired()) == nil && last.Turns == 0 && last.Changes == 0 && last.Waiting == 0 && idle(d.t, d.local)
	}, func() string { return fmt.Sprintf("the outbox does not drain: %+v", last) })
}

// idle reports whether no session is due.
func idle(t testing.TB, s skald.Store) bool {
	t.Helper()
	var list []skald.Record
	view(t, s, func(tx skald.Tx) (err error) {
		list, err = tx.Records(skald.RecordQuery{Kind: "openviking.due"})
		return err
	})
	return len(list) == 0
}

func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func eventually(t testing.TB, holds func() bool, why func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(why())
		}
	}
}

func view(t testing.TB, s skald.Store, fn func(skald.Tx) error) {
	t.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// turns are the stored turns of a session.
func turns(t testing.TB, s skald.Store, r skald.SessionRef) (list []skald.Turn) {
	t.Helper()
	view(t, s, func(tx skald.Tx) (err error) {
		list, err = tx.Turns(r, skald.TurnQuery{})
		return err
	})
	return list
}

func memories(t testing.TB, s skald.Store) (list []skald.Memory) {
	t.Helper()
	view(t, s, func(tx skald.Tx) (err error) {
		list, err = tx.Memories(skald.MemoryQuery{Scopes: skald.Policy{}.Readable(skald.DefaultIdentity)})
		return err
	})
	return list
}

func archives(t testing.TB, s skald.Store, r skald.SessionRef) (list []skald.Archive) {
	t.Helper()
	view(t, s, func(tx skald.Tx) (err error) {
		list, err = tx.Archives(r, 1)
		return err
	})
	return list
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: -want +got\n%s", what, d)
	}
}

// carried are the sequences that a server's messages carry, in their order.
func carried(list []client.Message) (seqs []string) {
	for _, m := range list {
		if len(m.Sources) == 4 && m.Sources[0] == "skald/1" {
			seqs = append(seqs, m.Sources[1])
		}
	}
	return seqs
}

// texts are the words that a server's messages show.
func texts(list []client.Message) (out []string) {
	for _, m := range list {
		for _, p := range m.Parts {
			if text, _ := p["text"].(string); text != "" {
				out = append(out, m.Role+": "+text)
			}
			if p["type"] == "tool" {
				out = append(out, fmt.Sprintf("%s: tool %v %v %v %v%v", m.Role, p["tool_id"], p["tool_name"], p["tool_status"],
					or(p["tool_input"]), or(p["tool_output"])))
			}
		}
	}
	return out
}

func or(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// rebuildsTo deletes the local file, so to say, and fails unless the same comes back from the server.
func (d *daemon) rebuildsTo(r remote, change ...func(*openviking.Options)) *daemon {
	d.t.Helper()
	again := start(d.t, r, nil, change...)
	again.drained()
	var sessions []skald.Session
	view(d.t, d.local, func(tx skald.Tx) (err error) {
		sessions, err = tx.Sessions(skald.SessionQuery{})
		return err
	})
	for _, s := range sessions {
		same(d.t, "turns of "+s.Key, turns(d.t, again.local, s.Ref), turns(d.t, d.local, s.Ref))
		type bounds struct{ Index, Epoch, From, To int }
		list := func(as []skald.Archive) (out []bounds) {
			for _, a := range as {
				out = append(out, bounds{a.Index, a.Epoch, int(a.From), int(a.To)})
			}
			return out
		}
		same(d.t, "archives of "+s.Key, list(archives(d.t, again.local, s.Ref)), list(archives(d.t, d.local, s.Ref)))
	}
	return again
}

// likes is a script of extraction: every message of the user that says what somebody likes becomes an entity.
func likes(list []client.Message) map[string]string {
	out := map[string]string{}
	for _, line := range texts(list) {
		name, what, ok := strings.Cut(strings.TrimPrefix(line, "user: "), " likes ")
		if ok && strings.HasPrefix(line, "user: ") {
			out["viking://user/"+fake.User+"/memories/entities/people/"+strings.ToLower(name)+".md"] = "# " + name + "\n- Likes " + what
		}
	}
	return out
}

// parse reads a file of messages.
func parse(t testing.TB, b []byte) (list []client.Message) {
	t.Helper()
	for line := range strings.SplitSeq(string(b), "\n") {
		if line == "" {
			continue
		}
		var m client.Message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Package crash kills the real daemon with SIGKILL at random moments under concurrent writers, and checks that nothing which it
// acknowledged is missing, changed or doubled (I1 to I4).
package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/test/world"
)

const (
	sessionsAtOnce  = 4
	writersEach     = 3
	cyclesOfSession = 25 // then new sessions begin, so that a long run does not read ever longer ones
	settleTime      = 30 * time.Second
)

// Set SKALD_CRASH_CYCLES for the number of kills and SKALD_CRASH_SEED to repeat a run's writes (not its timing).
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a real daemon; run without -short")
	}
	c := newCrash(t, number("SKALD_CRASH_SEED", uint64(time.Now().UnixNano())))
	cycles := int(number("SKALD_CRASH_CYCLES", 30))
	began := time.Now()
	t.Logf("seed %d, %d cycles", c.seed, cycles)
	for n := range cycles {
		if n%cyclesOfSession == 0 {
			c.newSessions(n)
		}
		c.cycle(n)
		if t.Failed() {
			t.FailNow()
		}
	}
	c.finish()
	t.Logf("cycles %d, killed while starting %d, acknowledged %d writes with %d turns, unanswered %d (%d of them were stored), lost %d, doubled %d, archives %d; %.0f s",
		cycles, c.killedEarly, c.acked, c.ackedTurns, c.unanswered, c.kept, c.lost, c.doubled, c.archives, time.Since(began).Seconds())
	if c.acked == 0 || c.unanswered == 0 {
		t.Errorf("the run shows nothing: %d writes acknowledged, %d unanswered", c.acked, c.unanswered)
	}
}

func number(name string, fallback uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return fallback
}

type crash struct {
	t      *testing.T
	ctx    context.Context
	seed   uint64
	rng    *rand.Rand
	daemon *world.Daemon
	client *client.Client

	sessions []*session // of this generation
	all      []*session

	acked, ackedTurns, unanswered, kept, lost, doubled, killedEarly, archives int
}

func newCrash(t *testing.T, seed uint64) *crash {
	c := &crash{t: t, ctx: t.Context(), seed: seed, rng: rand.New(rand.NewPCG(seed, 1))}
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "daemon.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			raw, _ := os.ReadFile(log.Name())
			t.Logf("the daemon's log ends:\n%s", raw[max(0, len(raw)-4000):])
		}
	})
	c.daemon, err = world.StartDaemon(c.ctx, filepath.Join(dir, "data"), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.daemon.Stop() })
	c.connect()
	return c
}

func (c *crash) connect() {
	c.t.Helper()
	var err error
	if c.client, err = c.daemon.Client(); err != nil {
		c.t.Fatal(err)
	}
}

// session is what the store must hold of one session: every write, acknowledged or repeated until it was.
type session struct {
	key      string
	id       string // as stored
	mu       sync.Mutex
	position int64
	writes   []*write
	seen     int   // writes up to here were compared,
	checked  int64 // and are all that is stored up to this sequence
}

// write is one call: the exchange of a commitTurn, or the entries of a reconcile.
type write struct {
	session   *session
	key       string
	reconcile bool
	messages  []json.RawMessage
	entries   []string
	position  int64
	acked     bool
	from, to  int64 // sequences of an acknowledged commitTurn
}

func (c *crash) newSessions(n int) {
	c.sessions = nil
	for i := range sessionsAtOnce {
		key := fmt.Sprintf("agent:main:crash-%d-%d", n, i)
		c.sessions = append(c.sessions, &session{key: key, id: skald.SessionID("", key)})
	}
	c.all = append(c.all, c.sessions...)
}

// cycle writes, kills, restarts, checks, repeats what was not answered, and checks again.
func (c *crash) cycle(n int) {
	var wg sync.WaitGroup
	killed := make(chan struct{})
	results := make([]report, sessionsAtOnce*writersEach)
	for i := range results {
		w := writer{crash: c, session: c.sessions[i%sessionsAtOnce], name: fmt.Sprintf("c%d-w%d", n, i), killed: killed,
			rng: rand.New(rand.NewPCG(c.seed, uint64(1000*n+i+2)))}
		wg.Go(func() { results[i] = w.run(c.ctx) })
	}
	time.Sleep(time.Duration(50+c.rng.IntN(450)) * time.Millisecond) // the moment of the kill, not a wait for something
	close(killed)
	c.daemon.Kill()
	wg.Wait()
	for _, r := range results {
		if r.err != nil {
			c.t.Fatalf("cycle %d: a write failed while the daemon was alive: %v", n, r.err)
		}
		c.unanswered += r.unanswered
		c.acked += r.acked
		c.ackedTurns += r.turns
	}
	c.restart()
	for _, s := range c.sessions {
		c.acknowledged(s)
		c.repeat(s)
		c.exact(s, false)
	}
	if n%5 == 4 {
		c.settled()
	}
}

// restart starts the daemon again; at times it is killed once more while it opens its store.
func (c *crash) restart() {
	c.t.Helper()
	if c.rng.IntN(5) == 0 {
		binary, err := world.Binary()
		if err != nil {
			c.t.Fatal(err)
		}
		cmd := exec.Command(binary, "serve", "--data", c.daemon.Data, "--listen", c.daemon.Addr)
		if err := cmd.Start(); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(time.Duration(c.rng.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		c.killedEarly++
	}
	if err := c.daemon.Start(c.ctx); err != nil {
		c.t.Fatal(err)
	}
	c.connect()
}

// acknowledged checks that every write acknowledged since the last look is there byte for byte, a commitTurn's where its answer said.
func (c *crash) acknowledged(s *session) {
	c.t.Helper()
	at, any := map[int64][]byte{}, map[string]bool{}
	for _, turn := range c.turns(s, s.checked+1) {
		at[turn.Envelope.Sequence] = turn.Raw
		any[string(turn.Raw)] = true
	}
	for _, w := range s.writes[s.seen:] {
		for i, raw := range w.messages {
			switch seq := w.from + int64(i); {
			case !w.acked:
			case w.reconcile && !any[string(raw)], !w.reconcile && !bytes.Equal(at[seq], raw):
				c.lost++
				c.t.Errorf("%s: turn %d of the acknowledged %s is not what was sent:\n%.300s\n%.300s", s.key, seq, w.key, raw, at[seq])
			}
		}
	}
}

// repeat sends again what had no answer, under the same key, as the host's outbox does.
func (c *crash) repeat(s *session) {
	c.t.Helper()
	for _, w := range s.writes[s.seen:] {
		if w.acked {
			continue
		}
		known, err := w.send(c.ctx, c.client)
		if err != nil {
			c.t.Fatalf("repeat %s: %v", w.key, err)
		}
		if known {
			c.kept++
		}
	}
}

// exact checks that the session holds all that was written since the last look, or ever, each message as often as it was said, and
// no more, under sequences without gaps.
func (c *crash) exact(s *session, whole bool) {
	c.t.Helper()
	if whole {
		s.checked, s.seen = 0, 0
	}
	missing := map[string]int{}
	want := s.checked
	for _, w := range s.writes[s.seen:] {
		want += int64(len(w.messages))
		for _, raw := range w.messages {
			missing[string(raw)]++
		}
	}
	for _, turn := range c.turns(s, s.checked+1) {
		if turn.Envelope.Sequence != s.checked+1 {
			c.t.Errorf("%s: turn %d follows turn %d", s.key, turn.Envelope.Sequence, s.checked)
		}
		s.checked = turn.Envelope.Sequence
		missing[string(turn.Raw)]--
	}
	for raw, n := range missing {
		c.lost += max(0, n)
		c.doubled += max(0, -n)
		if n != 0 {
			c.t.Errorf("%s: stored %d times too few (negative: too often): %.300s", s.key, n, raw)
		}
	}
	if s.checked != want {
		c.t.Errorf("%s: %d turns written, %d stored", s.key, want, s.checked)
	}
	if s.seen = len(s.writes); s.seen > 0 {
		c.verified(s.id)
	}
}

// turns reads the session from a sequence on; a session whose every write was cut off does not exist yet.
func (c *crash) turns(s *session, from int64) []skald.TurnInfo {
	c.t.Helper()
	list, err := c.client.ListTurns(c.ctx, world.Identity, s.id, from, 0)
	if err != nil && skald.KindOf(err) != skald.KindNotFound {
		c.t.Fatal(err)
	}
	return list
}

func (c *crash) verified(id string) {
	c.t.Helper()
	v, err := c.client.Verify(c.ctx, world.Identity, id)
	if err != nil {
		c.t.Fatal(err)
	}
	if !v.OK {
		c.t.Errorf("verify %q: %q", id, v.Problems)
	}
}

// settled waits until the jobs that the kills interrupted are done.
func (c *crash) settled() {
	c.t.Helper()
	for end := time.Now().Add(settleTime); ; time.Sleep(10 * time.Millisecond) {
		status, err := c.client.Status(c.ctx, world.Identity)
		if err != nil {
			c.t.Fatal(err)
		}
		if status.JobsFailed > 0 || len(status.Attention) > 0 || time.Now().After(end) {
			c.t.Fatalf("jobs are not done: %d ready, %d failed, attention %q, faults %+v", status.JobsReady, status.JobsFailed, status.Attention, status.Faults)
		}
		if status.JobsReady == 0 {
			return
		}
	}
}

// finish looks at everything once more, through the daemon and, after an orderly end, in the folder itself.
func (c *crash) finish() {
	c.settled()
	for _, s := range c.all {
		c.exact(s, true)
	}
	c.verified("")
	sessions, err := c.client.ListSessions(c.ctx, world.Identity, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range sessions {
		c.archives += s.Archives
		for i := range s.Archives {
			uri := fmt.Sprintf("%s/history/archive_%03d/.overview.md", s.URI, i+1)
			if text, err := c.client.Read(c.ctx, world.Identity, uri); err != nil || text == "" {
				c.t.Errorf("%s: %q, %v", uri, text, err)
			}
		}
	}
	if c.archives == 0 {
		c.t.Error("no commit happened: the run shows nothing about jobs")
	}
	c.daemon.Stop()
	binary, err := world.Binary()
	if err != nil {
		c.t.Fatal(err)
	}
	if out, err := exec.Command(binary, "verify", "--data", c.daemon.Data, "--json").CombinedOutput(); err != nil {
		c.t.Errorf("skald verify: %v\n%s", err, out)
	}
}

// report is what became of one writer's writes in one cycle.
type report struct {
	acked, turns, unanswered int
	err                      error
}

type writer struct {
	crash   *crash
	session *session
	name    string
	rng     *rand.Rand
	killed  <-chan struct{}
	n       int
	last    *write // acknowledged
}

// run writes until the daemon is killed. An error before that is a fault.
func (w *writer) run(ctx context.Context) (r report) {
	for {
		next := w.next()
		_, err := next.send(ctx, w.crash.client)
		if err == nil {
			err = w.aside(ctx)
			r.acked++
			r.turns += len(next.messages)
		} else {
			r.unanswered++
		}
		select {
		case <-w.killed: // closed before the kill
			return r
		default:
		}
		if err != nil {
			r.err = err
			return r
		}
		w.last = next
	}
}

// aside does what goes on beside the writes: commits, repetitions of what was acknowledged, the cursor's view of what was committed.
func (w *writer) aside(ctx context.Context) error {
	c := w.crash.client
	switch n := w.rng.IntN(12); {
	case n == 0:
		_, err := c.Commit(ctx, world.Identity, w.session.id, false)
		return err
	case n == 1 && w.last != nil:
		again := *w.last
		known, err := again.send(ctx, c)
		if err == nil && (!known || again.from != w.last.from || again.to != w.last.to) {
			return fmt.Errorf("%s was stored again, as %d..%d after %d..%d", again.key, again.from, again.to, w.last.from, w.last.to)
		}
		return err
	case n == 2 && w.last != nil: // what one channel brought comes by the other
		again := *w.last
		again.reconcile = !again.reconcile
		known, err := again.send(ctx, c)
		if err == nil && !known {
			return fmt.Errorf("the other channel's copy of %s was stored again", again.key)
		}
		return err
	}
	return nil
}

// next makes a write and puts it on the session's list before it is sent.
func (w *writer) next() *write {
	w.n++
	x := &write{session: w.session, key: fmt.Sprintf("%s-%d", w.name, w.n), reconcile: w.rng.IntN(6) == 0}
	x.messages = w.exchange(x.key)
	for i := range x.messages {
		x.entries = append(x.entries, fmt.Sprintf("%s-e%d", x.key, i))
	}
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	x.position = w.session.position
	w.session.position += int64(len(x.messages))
	w.session.writes = append(w.session.writes, x)
	return x
}

// exchange is what hosts send: text, tool calls and results, images, thinking, foreign roles, bytes that are hard to keep, and the
// same "ok" over and over.
func (w *writer) exchange(key string) []json.RawMessage {
	at := 1_796_000_000_000 + int64(w.n)*1000
	list := []json.RawMessage{raw(`{"role":"user","content":[{"type":"text","text":%s}],"timestamp":%d}`, quote(said(w.rng, key)), at)}
	switch w.rng.IntN(6) {
	case 0:
		list = append(list, raw(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s=="},{"type":"toolCall","id":"call_%s","name":"read","arguments":{"path":"a.txt"}}],"stopReason":"toolUse","timestamp":%d}`, key, at+1),
			raw(`{"role":"toolResult","toolCallId":"call_%s","toolName":"read","content":[{"type":"text","text":%s}],"isError":false,"timestamp":%d}`, key, quote(long(w.rng, 20_000)), at+2))
	case 1:
		list = append(list, raw(`{"content" : [ {"type":"image","data":"%s","mimeType":"image/png"} ], "role":"user" ,"timestamp":%d}`, bytes.Repeat([]byte("iVBORw0K"), 1+w.rng.IntN(4000)), at+1))
	case 2:
		list = append(list, raw(`{"role":"custom","customType":"x","content":"\u0000 \ud800 \udc00 \u202e %s","display":false,"timestamp":%d}`, key, at+1))
	case 3: // the same bytes from every writer
		list = append(list, raw(`{"role":"user","content":"ok","timestamp":1796000000000}`), raw(`{"role":"user","content":"ok","timestamp":1796000000000}`))
	}
	return append(list, raw(`{"role":"assistant","content":[{"type":"text","text":%s}],"usage":{"input":%d,"output":3},"timestamp":%d}`, quote("done "+key+" 好的 🙂"), w.rng.IntN(9000), at+3))
}

// said is one in eight times a thing to remember.
func said(rng *rand.Rand, key string) string {
	if rng.IntN(8) == 0 {
		return "Please remember that the locker of " + key + " is number " + strconv.Itoa(rng.IntN(1000)) + "."
	}
	return "What do we know about " + key + "?"
}

func raw(format string, args ...any) json.RawMessage { return fmt.Appendf(nil, format, args...) }

func quote(s string) []byte { b, _ := json.Marshal(s); return b }

func long(rng *rand.Rand, most int) string {
	words := []string{"error", "spoke", "bay", "lease", "静かな", "table\n", "0x1f", "retry", "\\u0000", "ok"}
	var b bytes.Buffer
	for n := rng.IntN(most); b.Len() < n; {
		_, _ = io.WriteString(&b, words[rng.IntN(len(words))]+" ")
	}
	return b.String()
}

// send makes the call. known tells that the store had it all.
func (w *write) send(ctx context.Context, c *client.Client) (known bool, err error) {
	request := skald.Request{Identity: world.Identity, Session: skald.SessionAddress{SessionKey: w.session.key, AgentID: "main"}}
	if w.reconcile {
		r := skald.ReconcileRequest{Request: request, Cursor: quote(w.key)}
		for i, m := range w.messages {
			position := w.position + int64(i)
			r.Entries = append(r.Entries, skald.Entry{EntryID: w.entries[i], Position: &position, Message: m})
		}
		res, err := c.Reconcile(ctx, r)
		if err != nil {
			return false, err
		}
		if res.Imported > 0 && res.Imported < len(w.messages) {
			return false, fmt.Errorf("%s: %d of %d entries imported: stored by half", w.key, res.Imported, len(w.messages))
		}
		w.acked = true
		return res.Imported == 0, nil
	}
	last := len(w.messages) - 1
	res, err := c.CommitTurn(ctx, skald.CommitTurnRequest{
		Request: request, AdvancementKey: w.key, Messages: w.messages, TokenBudget: 64_000,
		Admission: &skald.Anchor{EntryID: w.entries[0], Position: w.position},
		Terminal:  &skald.Anchor{EntryID: w.entries[last], Position: w.position + int64(last)},
	})
	if err != nil {
		return false, err
	}
	if res.To-res.From != int64(last) || res.Stored != 0 && res.Stored != len(w.messages) {
		return false, fmt.Errorf("%s: %d messages, answer %+v", w.key, len(w.messages), res)
	}
	w.acked, w.from, w.to = true, res.From, res.To
	return res.Status == "duplicate", nil
}

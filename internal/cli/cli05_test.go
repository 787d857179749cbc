package cli

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/store/memory"
)

// stuck is a summariser that never ends, until its context does; once freed it works.
type stuck struct{ free chan struct{} }

func (s stuck) Summarise(ctx context.Context, in archive.Input) (archive.Summary, error) {
	select {
	case <-s.free:
		return archive.Builtin{}.Summarise(ctx, in)
	case <-ctx.Done():
		return archive.Summary{}, ctx.Err()
	}
}

// TestCLI05WaitEndsAndJobCanBeCancelled: a wait for a job that never ends ends with its own exit code and names what is pending; the job
// can be cancelled and retried.
func TestCLI05WaitEndsAndJobCanBeCancelled(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	url := daemonWith(t, stuck{free})
	at := []string{"--server", url}
	skald := func(want int, args ...string) (string, string) {
		t.Helper()
		code, stdout, stderr := call(t.Context(), append(args, at...)...)
		if code != want {
			t.Fatalf("skald %s: exit %d, want %d: %s%s", strings.Join(args, " "), code, want, stdout, stderr)
		}
		return stdout, stderr
	}
	send(t, url)
	_, stderr := skald(exitDeadline, "commit", "s1", "--wait", "--timeout", "300ms")
	if !strings.Contains(stderr, "job 1 (") || !strings.Contains(stderr, ", viking://") { // waiting still, on a busy machine
		t.Errorf("what is pending is not named: %s", stderr)
	}
	id := strconv.FormatInt(await(t, url, "running").ID, 10)
	skald(exitFailure, "jobs", "retry", id) // it runs
	skald(exitOK, "jobs", "cancel", id)
	onlyJob(t, url, "cancelled")
	if _, stderr := skald(exitFailure, "jobs", "cancel", id); !strings.Contains(stderr, "ended already") {
		t.Error(stderr)
	}
	skald(exitNotFound, "jobs", "cancel", "4711")
	skald(exitInvalid, "jobs", "cancel", "x")

	close(free)
	skald(exitOK, "jobs", "retry", id)
	await(t, url, "done")
	if stdout, _ := skald(exitOK, "jobs", "list"); stdout != "nothing to do\n" {
		t.Error(stdout)
	}
	if stdout, _ := skald(exitOK, "verify"); !strings.Contains(stdout, "all good") {
		t.Error(stdout)
	}
}

// daemonWith is a daemon in dev mode with a summariser of the test's.
func daemonWith(t *testing.T, s archive.Summariser) (url string) {
	t.Helper()
	e, err := engine.New(memory.New(), engine.Options{Summariser: s})
	if err != nil {
		t.Fatal(err)
	}
	access, err := server.NewAccess("127.0.0.1:0", true, skald.DefaultIdentity, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := server.New(server.Deps{Engine: e, Inspector: e, Access: access, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	http := httptest.NewServer(h)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { e.Run(ctx, 1, 0) })
	t.Cleanup(func() { http.Close(); stop(); wg.Wait() })
	return http.URL
}

// send stores a session s1 whose commit is still to come.
func send(t *testing.T, url string) {
	t.Helper()
	err := onServer(url).use(t.Context(), func(p *place) error {
		r := skald.CommitTurnRequest{AdvancementKey: "k1", Messages: []json.RawMessage{
			json.RawMessage(`{"role":"user","content":"Our database listens on port 5544."}`),
			json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"Noted."}]}`)}}
		r.Identity, r.Session.SessionID = p.id, "s1"
		_, err := p.CommitTurn(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func onServer(url string) *shell {
	s := newShell(nil, nil)
	s.where.server = url
	return s
}

func jobs(t *testing.T, url string, all bool) (list []skald.JobInfo) {
	t.Helper()
	err := onServer(url).use(t.Context(), func(p *place) (err error) {
		list, err = p.ListJobs(t.Context(), p.id, all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func onlyJob(t *testing.T, url, state string) skald.JobInfo {
	t.Helper()
	list := jobs(t, url, false)
	if len(list) != 1 || list[0].State != state {
		t.Fatalf("want one job that is %s: %+v", state, list)
	}
	return list[0]
}

// await waits until the one job is in a state.
func await(t *testing.T, url, state string) skald.JobInfo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		list := jobs(t, url, true)
		if len(list) == 1 && list[0].State == state {
			return list[0]
		}
		select {
		case <-ctx.Done():
			t.Fatalf("want one job that is %s: %+v", state, list)
		case <-poll.C:
		}
	}
}

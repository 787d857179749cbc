package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/internal/launch"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/wire"
)

// Options say for which hook and with which daemon.
type Options struct {
	Event    string
	Data     string // the daemon's data folder: key, log of faults
	Server   string // the daemon's URL
	Identity skald.Identity
	Binary   string        // the program that is started as daemon; "" is this one
	Limit    time.Duration // 0: Limit
	Recall   time.Duration // of the call for a prompt; 0: 300 ms
}

// outcome is what the work of a hook came to.
type outcome struct {
	session string
	out     []byte
	err     error
}

// Main runs one hook: it reads stdin, and writes to stdout nothing but what the host asks for. It returns within the limit, whatever
// happens, and has no error to give: the agent goes on without Skald, and the fault is noted in the data folder.
func Main(ctx context.Context, stdin io.Reader, stdout io.Writer, o Options) {
	if o.Limit == 0 {
		o.Limit = Limit
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	done := make(chan outcome, 1)
	go func() { done <- o.safely(ctx, stdin) }()
	var got outcome
	select {
	case got = <-done:
	case <-ctx.Done():
		select { // both may be ready
		case got = <-done:
		default:
			got.err = skald.E("hook", skald.KindDeadline, "not done within %v", o.Limit)
		}
	}
	if got.err == nil && len(got.out) > 0 {
		_, got.err = stdout.Write(append(got.out, '\n'))
	}
	if got.err != nil {
		e := wire.Classify(got.err)
		note(o.Data, Fault{Time: time.Now().UTC(), Event: o.Event, Session: got.session, Kind: e.Kind, Error: e.Error()})
	}
}

func (o Options) limits() *limits {
	l := standard
	if o.Recall > 0 {
		l.recall = o.Recall
	}
	return &l
}

func (o Options) safely(ctx context.Context, stdin io.Reader) (got outcome) {
	defer func() {
		if p := recover(); p != nil {
			got = outcome{session: got.session, err: fmt.Errorf("panic: %v", p)}
		}
	}()
	in, err := ReadInput(stdin, o.Event)
	if err != nil {
		return outcome{err: err}
	}
	got.session = in.SessionID
	if got.err = launch.Ensure(ctx, launch.Options{URL: o.Server, Data: o.Data, Binary: o.Binary}); got.err != nil {
		return got
	}
	c := client.New(o.Server, o.key(), client.Options{})
	out, err := Runner{Engine: c, Inspector: c, Identity: o.Identity, limits: o.limits()}.Run(ctx, in)
	if got.err = err; err == nil {
		got.out, got.err = out.JSON()
	}
	return got
}

// key is the daemon's key; a daemon in dev mode has none, any other says that it is missing.
func (o Options) key() string {
	if key := os.Getenv("SKALD_API_KEY"); key != "" {
		return key
	}
	key, err := server.ReadKey(o.Data)
	if err != nil {
		return ""
	}
	return key
}

// Usage notes that a hook was called in a way that it does not understand: a settings file of another version of Skald, say.
func Usage(data, event, problem string) {
	note(data, Fault{Time: time.Now().UTC(), Event: event, Kind: skald.KindInvalid, Error: problem})
}

// Package enginebench measures the engine on synthetic sessions: commitTurn beside a bare write and sync, assemble in process and
// through a real daemon, disk, memory and start-up. A benchmark for people to read: no test asserts its figures.
package enginebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// Target is an engine in this process.
type Target struct {
	Engine    skald.Engine
	Inspector skald.Inspector
	RunJobs   func(context.Context) error
	Close     func() error
}

// Options of a run.
type Options struct {
	Data     string // folder: new, empty, or left by an earlier run
	Messages []int  // stored messages at which to measure, rising
	Prompts  string // file of prompts, one a line; "": built-in ones
	Binary   string // the skald binary, for the daemon
	Open     func(ctx context.Context, dir string) (Target, error)
	Progress func(format string, args ...any)
}

// Report is the outcome. Its JSON keys are fixed: checks depend on them.
type Report struct {
	StartupMS float64 `json:"startup_ms"`
	IdleRSSMB float64 `json:"idle_rss_mb"`
	Sizes     []Size  `json:"sizes"`
}

// Size holds the figures at one number of stored messages.
type Size struct {
	Messages       int     `json:"messages"`
	CommitTurn     Three   `json:"commit_turn_ms"`
	Fsync          One     `json:"fsync_ms"`
	Assemble       Two     `json:"assemble_ms"`
	AssembleHTTP   Two     `json:"assemble_http_ms"`
	DiskPerRawByte float64 `json:"disk_per_raw_byte"`
	RSSMB          float64 `json:"rss_mb"`
}

// MeasuredExchanges is how many exchanges are measured at the end of each size, in process and through the daemon.
const MeasuredExchanges = 450

// bench is one run on its way.
type bench struct {
	options Options
	prompts []string
	load    *loader
	asked   int // prompts so far
}

// Run measures. It fails with KindInvalid on a memory file system, on a folder with other data in it, and on sizes that do not rise.
func Run(ctx context.Context, o Options) (Report, error) {
	b := &bench{options: o}
	if err := b.prepare(); err != nil {
		return Report{}, err
	}
	var r Report
	var err error
	if r.StartupMS, r.IdleRSSMB, err = b.idle(ctx); err != nil {
		return r, err
	}
	for _, n := range o.Messages {
		started := time.Now()
		size, err := b.size(ctx, n)
		if err != nil {
			return r, fmt.Errorf("at %d messages: %w", n, err)
		}
		o.Progress("%d messages: measured in %s", n, time.Since(started).Round(time.Second))
		r.Sizes = append(r.Sizes, size)
	}
	return r, nil
}

func (b *bench) prepare() (err error) {
	o := b.options
	if o.Data == "" {
		return skald.Invalid("bench.engine", "data", "name a folder on a real disk with --data")
	}
	if len(o.Messages) == 0 || o.Messages[0] < 1 || !slices.IsSorted(o.Messages) || o.Messages[len(o.Messages)-1] > 10_000_000 {
		return skald.Invalid("bench.engine", "messages", "give rising numbers from 1 to 10000000")
	}
	if b.prompts, err = loadPrompts(o.Prompts); err != nil {
		return err
	}
	if err := claim(o.Data); err != nil {
		return err
	}
	b.load = newLoader(b.prompts)
	return nil
}

// size loads, measures the last exchanges in process and then through a daemon, up to n messages.
func (b *bench) size(ctx context.Context, n int) (Size, error) {
	z := Size{Messages: n}
	exchanges := min(MeasuredExchanges, max(3, (n-b.load.messages)/(2*meanExchange)))
	there := n - exchanges/3*meanExchange // the daemon's share is the last third
	t, err := b.options.Open(ctx, b.options.Data)
	if err != nil {
		return z, err
	}
	err = b.inProcess(ctx, t, n-exchanges*meanExchange, there, &z)
	if err = errors.Join(err, t.Close()); err != nil {
		return z, err
	}
	if err := b.throughDaemon(ctx, n, &z); err != nil {
		return z, err
	}
	disk, err := folderBytes(b.options.Data)
	z.DiskPerRawByte = round(float64(disk) / float64(b.load.raw))
	return z, err
}

// inProcess loads up to from and measures up to the end, with the jobs of the load done, so that archives and memories exist as they
// would after days of use.
func (b *bench) inProcess(ctx context.Context, t Target, from, to int, z *Size) error {
	if err := b.load.fill(ctx, t, from); err != nil {
		return err
	}
	b.options.Progress("%d messages: loaded", b.load.messages)
	m, err := newMeter(b.options.Data)
	if err != nil {
		return err
	}
	defer m.close()
	for b.load.messages < to {
		if err := b.measure(ctx, t.Engine, m, to); err != nil {
			return err
		}
	}
	z.CommitTurn, z.Fsync, z.Assemble = three(m.commits), One{percentile(m.syncs, 50)}, two(m.assembles)
	return t.RunJobs(ctx)
}

// measure plays one exchange: assemble, commitTurn, and the bare write of the same bytes beside it. Each prompt asks for a recall.
func (b *bench) measure(ctx context.Context, e skald.Engine, m *meter, to int) error {
	s := b.load.next()
	b.asked++
	x := s.ask(b.prompts[b.asked%len(b.prompts)], to-b.load.messages)
	took, err := clocked(func() error { return s.assemble(ctx, e, x) })
	if err != nil {
		return err
	}
	m.assembles = append(m.assembles, took)
	if took, err = clocked(func() error { return s.commit(ctx, e, x) }); err != nil {
		return err
	}
	m.commits = append(m.commits, took)
	if took, err = clocked(func() error { return m.write(x.messages) }); err != nil {
		return err
	}
	m.syncs = append(m.syncs, took)
	b.load.count(x)
	return nil
}

func clocked(do func() error) (time.Duration, error) {
	started := time.Now()
	err := do()
	return time.Since(started), err
}

// meter collects times, and writes bytes barely.
type meter struct {
	file                      *os.File
	commits, syncs, assembles []time.Duration
}

func newMeter(dir string) (*meter, error) {
	f, err := os.CreateTemp(dir, "bare-*")
	return &meter{file: f}, err
}

// write is the least that durability costs: the same bytes at a file's end, and a sync.
func (m *meter) write(messages []json.RawMessage) error {
	for _, raw := range messages {
		if _, err := m.file.Write(raw); err != nil {
			return err
		}
	}
	return m.file.Sync()
}

func (m *meter) close() {
	m.file.Close()
	os.Remove(m.file.Name())
}

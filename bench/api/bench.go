// Package apibench measures OpenViking's HTTP API as Skald serves it, and as the real OpenViking does in the same run: appended messages a
// second, find, start-up, memory. A benchmark for people to read: no test asserts its figures.
package apibench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skald-engine/skald"
	enginebench "github.com/skald-engine/skald/bench/engine"
)

// Options of a run.
type Options struct {
	Data       string        // folder on a disk, new or left by an earlier run
	Binary     string        // the skald binary
	OpenViking string        // virtual environment of a real OpenViking to start; "": none
	Against    string        // base URL of a running OpenViking; "": none
	AgainstKey string        // a user's key there
	Entries    []int         // entries at which find is measured, rising
	Span       time.Duration // of each measurement of appends
	Budget     time.Duration // for filling one server with entries: what is not reached then, is not measured
	Progress   func(format string, args ...any)
}

// Report is the outcome. Its JSON keys are fixed.
type Report struct {
	Servers []Figures `json:"servers"`
	Goals   []Goal    `json:"goals,omitempty"`
	Notes   []string  `json:"notes,omitempty"`
}

// Figures of one server. StartupMS and the memory are 0 for a server that was not started here.
type Figures struct {
	Name       string  `json:"name"` // skald, skald without sync, openviking
	Durability string  `json:"durability"`
	StartupMS  float64 `json:"startup_ms"`
	IdleRSSMB  float64 `json:"idle_rss_mb"`
	RSSMB      float64 `json:"rss_mb"` // at the end
	Append     Rates   `json:"append_messages_per_s"`
	Find       []Find  `json:"find"`
}

// Rates are appended messages a second: one message a request, or 100; one caller, or 16 with a session each.
type Rates struct {
	Single1  float64 `json:"single_1"`
	Single16 float64 `json:"single_16"`
	Batch1   float64 `json:"batch_1"`
	Batch16  float64 `json:"batch_16"`
}

// Find is the time of POST /search/find, one caller.
type Find struct {
	Entries int     `json:"entries"`
	P50     float64 `json:"p50_ms"`
	P95     float64 `json:"p95_ms"`
}

// What servers ship with. OpenViking 0.5.2 was traced: appends, commits and files are written without any sync; the log of its vector index
// is synced when vectors are written.
const (
	synced   = "every acknowledged write is synced to disk"
	unsynced = "no write waits for the disk"
	vectors  = "sessions and files are not synced; the log of the vector index is"
	asked    = "whatever the server that was asked ships with"
)

// subject is a server on its way through the measurements.
type subject struct {
	name, durability string
	url, key         string
	pid              int // 0: not ours
	startup          time.Duration
	stop             func() error
}

// Run measures Skald as it ships, Skald without syncs, and the other server when there is one, each by itself.
func Run(ctx context.Context, o Options) (r Report, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	counts := o.Entries
	if o.compares() {
		f, err := o.measure(ctx, o.other, o.Entries)
		if err != nil {
			return r, err
		}
		r.Servers = append(r.Servers, f)
		counts = reached(f, o.Entries)
		r.Notes = append(r.Notes, shortfall(f, o.Entries)...)
	}
	for _, start := range []starter{o.skald("skald", synced), o.skald("skald without sync", unsynced, "--fleeting")} {
		f, err := o.measure(ctx, start, counts)
		if err != nil {
			return r, err
		}
		r.Servers = append(r.Servers, f)
		r.Notes = append(r.Notes, shortfall(f, o.Entries)...)
	}
	r.Goals = goals(r.Servers)
	return r, nil
}

func (o Options) compares() bool { return o.OpenViking != "" || o.Against != "" }

func (o Options) check() error {
	switch {
	case o.Data == "":
		return skald.Invalid("bench.api", "data", "name a folder on a disk")
	case len(o.Entries) == 0 || !slices.IsSorted(o.Entries) || o.Entries[0] < 1:
		return skald.Invalid("bench.api", "entries", "must be rising numbers")
	case o.OpenViking != "" && o.Against != "":
		return skald.Invalid("bench.api", "against", "either a server that is started, or one that runs")
	}
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return skald.Invalid("bench.api", "data", "%w", err)
	}
	if name := enginebench.MemoryFileSystem(o.Data); name != "" {
		return skald.Invalid("bench.api", "data", "%s is on %s, which is memory: its syncs cost nothing. Name a folder on a disk", o.Data, name)
	}
	return nil
}

// reached are the counts at which Skald is measured too: the other server's, and what was asked for beyond them.
func reached(f Figures, asked []int) (counts []int) {
	for _, x := range f.Find {
		counts = append(counts, x.Entries)
	}
	for _, n := range asked {
		if !slices.Contains(counts, n) {
			counts = append(counts, n)
		}
	}
	slices.Sort(counts)
	return counts
}

func shortfall(f Figures, asked []int) (notes []string) {
	last := asked[len(asked)-1]
	most := 0
	if len(f.Find) > 0 {
		most = f.Find[len(f.Find)-1].Entries
	}
	if most < last {
		notes = append(notes, fmt.Sprintf("%s had %d of %d entries when its time was up: its last find is at %d", f.Name, most, last, most))
	}
	return notes
}

type starter func(ctx context.Context, dir string) (*subject, error)

// measure starts a server in a folder of its own and measures it.
func (o Options) measure(ctx context.Context, start starter, counts []int) (f Figures, err error) {
	dir, err := os.MkdirTemp(o.Data, "api-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	s, err := start(ctx, dir)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	f = Figures{Name: s.name, Durability: s.durability, StartupMS: float64(s.startup.Microseconds()) / 1000}
	o.say("%s answers after %.0f ms", s.name, f.StartupMS)
	if f.IdleRSSMB, err = s.memory(ctx); err != nil {
		return f, err
	}
	c := newCaller(s.url, s.key)
	if f.Append, err = o.appends(ctx, c, s.name); err != nil {
		return f, err
	}
	if f.Find, err = o.finds(ctx, c, s.name, counts); err != nil {
		return f, err
	}
	f.RSSMB, err = s.memory(ctx)
	return f, err
}

// memory is the resident memory of the process a second later.
func (s *subject) memory(ctx context.Context) (float64, error) {
	if s.pid == 0 {
		return 0, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Second):
		return enginebench.ResidentMB(s.pid)
	}
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

func (o Options) folder(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	return path, os.MkdirAll(path, 0o700)
}

package evidence

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/store/sqlite"
)

// Target is an engine in this process.
type Target struct {
	Engine    skald.Engine
	Inspector skald.Inspector
	SetClock  func(time.Time)
	RunJobs   func(context.Context) error
	Close     func() error
}

// Options of a run.
type Options struct {
	Data     string // file of conversations
	Budget   int    // tokens of what is injected for one question
	Out      string // file of contexts to write, one a line; "": none
	Strategy string // "" the default
	Meaning  bool   // Open switches recall by meaning on; for the report
	Without  []recall.Stage

	MidSession bool  // ask in mid-session, too
	Ablation   bool  // ask without each stage, too
	Extra      []int // budgets at which MidSession and Ablation ask; empty: all
	Sample     int   // questions of each conversation that they ask; 0: all

	Open     func(ctx context.Context, dir string) (Target, error)
	Progress func(format string, args ...any)
}

// run is one run on its way.
type run struct {
	Options
	all     []Conversation
	out     *writer
	tallies []*tally // one for each budget
}

// Sweep plays every conversation into a store of its own and puts its questions, at each of the budgets. Contexts are written for the
// first budget only.
func Sweep(ctx context.Context, o Options, budgets []int) ([]Report, error) {
	r := &run{Options: o}
	for c, err := range Load(o.Data) {
		if err != nil {
			return nil, err
		}
		r.all = append(r.all, c)
	}
	for _, b := range budgets {
		r.tallies = append(r.tallies, o.tally(b))
	}
	var err error
	if r.out, err = newWriter(o.Out); err != nil {
		return nil, err
	}
	ctx = recall.Without(ctx, o.Without...)
	for i := range r.all {
		if err := r.conversation(ctx, i); err != nil {
			_ = r.out.close() // the run has failed already
			return nil, fmt.Errorf("%s: %w", r.all[i].ID, err)
		}
	}
	reports := make([]Report, len(r.tallies))
	for i, t := range r.tallies {
		reports[i] = t.report()
	}
	return reports, r.out.close()
}

func (o Options) tally(budget int) *tally {
	o.Budget = budget
	t := &tally{Report: Report{Data: o.Data, Budget: budget, ByCategory: map[string]*Figures{}, Halves: &Halves{}, SmallTalk: &Silence{},
		Configured: o.configuration()}}
	t.extra = len(o.Extra) == 0 || slices.Contains(o.Extra, budget)
	if o.Ablation && t.extra {
		for _, s := range recall.Stages() {
			t.Ablation = append(t.Ablation, Ablated{Without: s})
		}
	}
	return t
}

// configuration says how the figures came about.
func (o Options) configuration() []string {
	list := []string{
		"strategy " + cmp.Or(o.Strategy, "default"), "recall form auto (tool call)", fmt.Sprintf("assemble within %d tokens", Window),
		fmt.Sprintf("what is shown within %d tokens", o.Budget), "builtin summariser and extractor",
		map[bool]string{false: "recall by words", true: "recall by words and meaning (the embedded table)"}[o.Meaning], "no model, no network",
	}
	for _, s := range o.Without {
		list = append(list, "without "+string(s))
	}
	return list
}

// half is the part of the file that a conversation belongs to.
func (r *run) half(t *tally, i int) *Figures {
	if i < (len(r.all)+1)/2 {
		return &t.Halves.First
	}
	return &t.Halves.Last
}

// size is what a conversation comes to in a store.
type size struct {
	turns        int
	took         time.Duration
	bytes, index int64
}

// conversation plays one conversation, and asks.
func (r *run) conversation(ctx context.Context, i int) error {
	dir, err := os.MkdirTemp("", "skald-evidence-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := r.all[i]
	store := filepath.Join(dir, "store")
	p := &player{texts: map[string]string{}, places: map[string]string{}, order: map[string]int{}, words: countWords(c)}
	z, err := r.play(ctx, p, c, store)
	if err != nil {
		return err
	}
	for _, t := range r.tallies {
		t.stored(z)
	}
	began := time.Now()
	if err := r.opened(ctx, p, store, func() error { return r.questions(ctx, p, i) }); err != nil {
		return err
	}
	if r.MidSession {
		if err := r.midSession(ctx, p, i, store); err != nil {
			return err
		}
	}
	r.Progress("%s: %d turns in %s, %d questions in %s", c.ID, z.turns, z.took.Round(time.Millisecond), len(c.Questions),
		time.Since(began).Round(time.Millisecond))
	return nil
}

// opened lets a player work on a store.
func (r *run) opened(ctx context.Context, p *player, dir string, work func() error) (err error) {
	if p.target, err = r.Open(ctx, dir); err != nil {
		return err
	}
	defer func() {
		if e := p.target.Close(); err == nil {
			err = e
		}
	}()
	return work()
}

// play puts a conversation into a store.
func (r *run) play(ctx context.Context, p *player, c Conversation, dir string) (z size, err error) {
	began := time.Now()
	if err := r.opened(ctx, p, dir, func() error { return p.store(ctx, c) }); err != nil {
		return z, err
	}
	z.turns, z.took = p.turns, time.Since(began)
	if z.bytes, err = folderBytes(dir); err == nil {
		z.index, err = sqlite.IndexBytes(ctx, dir)
	}
	return z, err
}

// questions puts the questions of the i-th conversation, and what is asked of every one.
func (r *run) questions(ctx context.Context, p *player, i int) error {
	list := r.all[i].Questions
	sample := sampled(list, r.Sample)
	for n, q := range list {
		for k, t := range r.tallies {
			a, err := p.ask(ctx, n, q, t.Budget)
			if err == nil && k == 0 {
				err = r.out.write(q.ID, a)
			}
			if err == nil && sample[q.ID] {
				err = t.ablate(ctx, p, q, a)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", q.ID, err)
			}
			t.add(q, r.half(t, i), a, p.score(q, t.Budget, a))
			t.supersede(p, q, a)
		}
	}
	for _, t := range r.tallies {
		if err := t.smallTalk(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// sampled picks up to n questions with evidence (0: all), spread evenly.
func sampled(list []Question, n int) map[string]bool {
	var ids []string
	for _, q := range list {
		if len(q.Evidence) > 0 {
			ids = append(ids, q.ID)
		}
	}
	if n <= 0 || n > len(ids) {
		n = len(ids)
	}
	out := map[string]bool{}
	for i := range n {
		out[ids[i*len(ids)/n]] = true
	}
	return out
}

// ParseStages reads a list of stages.
func ParseStages(names []string) (list []recall.Stage, err error) {
	for _, name := range names {
		if strings.TrimSpace(name) == "" {
			continue
		}
		s, err := recall.ParseStage(name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

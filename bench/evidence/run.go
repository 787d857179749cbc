package evidence

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Target is an engine on a fresh store in this process.
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
	Open     func(ctx context.Context, dir string) (Target, error)
	Progress func(format string, args ...any)
}

// Sweep plays every conversation into a store of its own and puts its questions, at each of the budgets. Contexts are written for the
// first budget only.
func Sweep(ctx context.Context, o Options, budgets []int) ([]Report, error) {
	list := make([]*tally, len(budgets))
	for i, budget := range budgets {
		at := o
		at.Budget = budget
		list[i] = &tally{Report: Report{Data: o.Data, Budget: budget, ByCategory: map[string]Category{}, Configured: at.configuration()}}
	}
	out, err := newWriter(o.Out)
	if err != nil {
		return nil, err
	}
	for c, err := range Load(o.Data) {
		if err == nil {
			err = conversation(ctx, o, c, out, list)
		}
		if err != nil {
			return nil, joinClose(err, out)
		}
		o.Progress("%s: %d turns, %d questions", c.ID, list[0].conversationTurns, len(c.Questions))
	}
	reports := make([]Report, len(list))
	for i, t := range list {
		reports[i] = t.report()
	}
	return reports, out.close()
}

// configuration says how the figures came about.
func (o Options) configuration() []string {
	return []string{
		"strategy " + cmp.Or(o.Strategy, "default"), "recall form auto (tool call)", fmt.Sprintf("assemble within %d tokens", Window),
		fmt.Sprintf("what is shown within %d tokens", o.Budget), "builtin summariser and extractor",
		map[bool]string{false: "recall by words", true: "recall by words and meaning"}[o.Meaning], "no model, no network",
	}
}

func joinClose(err error, out *writer) error {
	_ = out.close() // the run has failed already
	return err
}

func conversation(ctx context.Context, o Options, c Conversation, out *writer, list []*tally) (err error) {
	dir, err := os.MkdirTemp("", "skald-evidence-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	target, err := o.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() {
		if e := target.Close(); err == nil {
			err = e
		}
	}()
	p := &player{target: target, texts: map[string]string{}, places: map[string]string{}}
	began := time.Now()
	if err := p.store(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", c.ID, err)
	}
	took := time.Since(began)
	for _, t := range list {
		if err := t.stored(dir, p.turns, took); err != nil {
			return err
		}
	}
	w := countWords(c)
	for i, q := range c.Questions {
		for n, t := range list {
			a, err := p.ask(ctx, i, q, t.Budget)
			if err == nil && n == 0 {
				err = out.write(q.ID, a)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", q.ID, err)
			}
			t.add(q, p.texts, w, a)
		}
	}
	return nil
}

// add scores one question.
func (t *tally) add(q Question, texts map[string]string, w words, a answer) {
	t.took = append(t.took, a.took)
	tokens := message.TextTokens(a.context)
	if len(q.Evidence) == 0 {
		t.NoEvidence.Questions++
		t.silent += tokens
		return
	}
	t.Questions++
	t.tokens += tokens
	readings := views(a.context)
	hit := 0.0
	if tokens > t.Budget {
		t.OverBudget++
	} else {
		hit = recalled(q, texts, w, readings)
		if share, ok := answerWords(q, w, readings); ok {
			t.answer, t.answers = t.answer+share, t.answers+1
		}
	}
	t.hits += hit
	c := t.ByCategory[q.Category]
	c.Questions++
	c.sum += hit
	c.Recall = c.sum / float64(c.Questions)
	t.ByCategory[q.Category] = c
	first := a.ranked[:min(10, len(a.ranked))]
	n := 0
	for _, e := range q.Evidence {
		if slices.Contains(first, e) {
			n++
		}
	}
	t.at10 += float64(n) / float64(len(q.Evidence))
}

// writer writes the contexts.
type writer struct {
	file *os.File
	buf  *bufio.Writer
}

func newWriter(path string) (*writer, error) {
	if path == "" {
		return &writer{}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, skald.Invalid("evidence", "out", "%w", err)
	}
	return &writer{file: f, buf: bufio.NewWriter(f)}, nil
}

func (w *writer) write(question string, a answer) error {
	if w.file == nil {
		return nil
	}
	enc := json.NewEncoder(w.buf)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Question string   `json:"question_id"`
		Context  string   `json:"context"`
		Ranked   []string `json:"ranked"`
	}{question, a.context, append([]string{}, a.ranked...)})
}

func (w *writer) close() error {
	if w.file == nil {
		return nil
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	return w.file.Close()
}

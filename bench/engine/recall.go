package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// RecallReport is what recall takes inside assemble, in milliseconds. Its JSON keys are fixed.
type RecallReport struct {
	Turns    int     `json:"turns"`
	Recalls  int     `json:"recalls"`
	First    float64 `json:"first_ms"` // with what the process reads once
	Recall   Two     `json:"recall_ms"`
	Assemble Two     `json:"assemble_ms"`
	Slowest  string  `json:"slowest_prompt"`
	Shown    float64 `json:"items"` // shown on average
}

// RecallOptions of a run.
type RecallOptions struct {
	Data     string // folder: new, empty, or left by an earlier run, which is then not loaded again
	Turns    int
	Prompts  string // file of prompts, one a line; "": built-in ones
	Open     func(ctx context.Context, dir string) (Target, error)
	Progress func(format string, args ...any)
}

// recalls is how many prompts are put, each as the first of a new session.
const recalls = 240

// Recall loads so many turns through the write path, unless they are there from an earlier run, and measures prompts.
func Recall(ctx context.Context, o RecallOptions) (r RecallReport, err error) {
	prompts, err := loadPrompts(o.Prompts)
	if err != nil {
		return r, err
	}
	if o.Turns < 1 || o.Turns > 10_000_000 {
		return r, skald.Invalid("bench.recall", "turns", "give a number from 1 to 10000000")
	}
	if !o.loaded() {
		if err := o.load(ctx); err != nil {
			return r, err
		}
	}
	t, err := o.Open(ctx, o.Data)
	if err != nil {
		return r, err
	}
	r, err = measureRecall(ctx, t, o, prompts)
	return r, errors.Join(err, t.Close())
}

// done is the file that says what a folder was loaded with.
const done = "skald-bench-recall"

func (o RecallOptions) loaded() bool {
	text, err := os.ReadFile(filepath.Join(o.Data, done))
	return err == nil && strings.TrimSpace(string(text)) == fmt.Sprint(o.Turns)
}

func (o RecallOptions) load(ctx context.Context) error {
	if o.Data == "" {
		return skald.Invalid("bench.recall", "data", "name a folder on a real disk with --data")
	}
	if err := claim(o.Data); err != nil {
		return err
	}
	t, err := o.Open(ctx, o.Data)
	if err != nil {
		return err
	}
	began := time.Now()
	err = newLoader(builtinPrompts).fill(ctx, t, o.Turns)
	if err = errors.Join(err, t.Close()); err != nil {
		return err
	}
	o.Progress("%d turns loaded in %s", o.Turns, time.Since(began).Round(time.Second))
	return os.WriteFile(filepath.Join(o.Data, done), []byte(fmt.Sprintln(o.Turns)), 0o600)
}

func measureRecall(ctx context.Context, t Target, o RecallOptions, prompts []string) (r RecallReport, err error) {
	r.Turns = o.Turns
	w := newWriter(uint64(time.Now().UnixNano()))
	var recalling, assembling []time.Duration
	slowest, items := 0.0, 0
	for i := range recalls {
		text := prompts[i%len(prompts)]
		if i%3 == 2 { // what people write, common words and rare ones
			text = w.sentence()
		}
		s := newSession(1_000_000+i, prompts)
		s.id = fmt.Sprintf("recall-%x-%d", w.Uint64(), i)
		took, err := clocked(func() error { return s.assemble(ctx, t.Engine, s.ask(text, 2)) })
		if err != nil {
			return r, err
		}
		x, err := t.Inspector.Explain(ctx, skald.DefaultIdentity, s.id, 0)
		if err != nil {
			return r, err
		}
		if len(x.Recall.Terms) == 0 {
			return r, fmt.Errorf("%q: no recall: %s", text, x.Recall.Skipped)
		}
		if i == 0 {
			r.First = x.Recall.Millis
			continue
		}
		recalling = append(recalling, time.Duration(x.Recall.Millis*float64(time.Millisecond)))
		assembling = append(assembling, took)
		items += len(x.Recall.Items)
		if x.Recall.Millis > slowest {
			slowest, r.Slowest = x.Recall.Millis, text
		}
	}
	r.Recalls, r.Recall, r.Assemble = len(recalling), two(recalling), two(assembling)
	r.Shown = round(float64(items) / float64(len(recalling)))
	return r, nil
}

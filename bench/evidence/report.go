package evidence

import (
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Report is the outcome. Shares are from 0 to 1.
type Report struct {
	Data         string              `json:"data"`
	Budget       int                 `json:"budget"`
	Questions    int                 `json:"questions"` // with evidence
	Recall       float64             `json:"evidence_recall"`
	AnswerWords  float64             `json:"answer_words"`
	RecallAt10   float64             `json:"recall_at_10"`
	MeanTokens   float64             `json:"mean_tokens"`
	OverBudget   int                 `json:"over_budget"`
	ByCategory   map[string]Category `json:"by_category"`
	NoEvidence   NoEvidence          `json:"no_evidence_questions"`
	Assemble     Latency             `json:"assemble_ms"`
	Turns        int                 `json:"turns"`
	TurnsASecond float64             `json:"turns_per_second"` // stored and committed
	StoreBytes   int64               `json:"store_bytes"`
	Configured   []string            `json:"configuration"`
}

// Category holds the figures of one kind of questions.
type Category struct {
	Questions int     `json:"questions"`
	Recall    float64 `json:"evidence_recall"`
	sum       float64
}

// NoEvidence is about questions that nothing answers: less is better.
type NoEvidence struct {
	Questions  int     `json:"questions"`
	MeanTokens float64 `json:"mean_tokens"`
}

// Latency of assemble in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// tally sums up.
type tally struct {
	Report
	conversationTurns  int
	hits, at10, answer float64
	answers            int
	tokens, silent     int
	took               []time.Duration
	storing            time.Duration
}

// stored notes a conversation's size.
func (t *tally) stored(dir string, turns int, took time.Duration) error {
	t.conversationTurns = turns
	t.Turns += turns
	t.storing += took
	return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			t.StoreBytes += info.Size()
		}
		return err
	})
}

func (t *tally) report() Report {
	r := t.Report
	if n := float64(r.Questions); n > 0 {
		r.Recall, r.RecallAt10, r.MeanTokens = t.hits/n, t.at10/n, float64(t.tokens)/n
	}
	if t.answers > 0 {
		r.AnswerWords = t.answer / float64(t.answers)
	}
	if r.NoEvidence.Questions > 0 {
		r.NoEvidence.MeanTokens = float64(t.silent) / float64(r.NoEvidence.Questions)
	}
	if len(t.took) > 0 {
		slices.Sort(t.took)
		r.Assemble = Latency{P50: millis(t.took[len(t.took)/2]), P95: millis(t.took[len(t.took)*95/100])}
	}
	if s := t.storing.Seconds(); s > 0 {
		r.TurnsASecond = float64(r.Turns) / s
	}
	return r
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

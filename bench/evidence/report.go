package evidence

import (
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Report is the outcome at one budget. Its JSON keys are fixed: what reads them depends on them. Shares are from 0 to 1, tokens those of the
// text that is shown beside the question, times in milliseconds. What was not measured is left out.
type Report struct {
	Data   string `json:"data"`
	Budget int    `json:"budget"`
	Figures
	MeanTokens   float64             `json:"mean_tokens"`
	OverBudget   int                 `json:"over_budget"` // questions whose context scores zero for being too long
	ByCategory   map[string]*Figures `json:"by_category"`
	Halves       *Halves             `json:"halves,omitempty"`
	NoEvidence   Silence             `json:"no_evidence_questions"`
	SmallTalk    *Silence            `json:"small_talk,omitempty"`
	Superseded   *Superseded         `json:"superseded,omitempty"`
	MidSession   *MidSession         `json:"mid_session,omitempty"`
	Ablation     []Ablated           `json:"ablation,omitempty"`
	NotScored    int                 `json:"not_scored,omitempty"` // questions that the file names no evidence for, not even none
	Assemble     Latency             `json:"assemble_ms"`
	RecallTime   Latency             `json:"recall_ms"` // of that
	Turns        int                 `json:"turns"`
	TurnsASecond float64             `json:"turns_per_second"` // stored and committed
	StoreBytes   int64               `json:"store_bytes"`
	IndexBytes   int64               `json:"index_bytes"` // of those: passages, their terms and vectors
	Configured   []string            `json:"configuration"`
}

// Figures are what questions with evidence came to.
type Figures struct {
	Questions   int     `json:"questions"`
	Recall      float64 `json:"evidence_recall"` // share of the evidence that stands in the context
	AnswerWords float64 `json:"answer_words"`    // share of the answer's telling words that do
	RecallAt10  float64 `json:"recall_at_10"`    // share of the evidence among the first ten of the ranked list

	recall, words, at10 float64 // sums
	answers             int
}

func (f *Figures) add(o outcome) {
	f.Questions++
	f.recall, f.at10 = f.recall+o.recall, f.at10+o.at10
	n := float64(f.Questions)
	f.Recall, f.RecallAt10 = f.recall/n, f.at10/n
	if o.answered {
		f.answers++
		f.words += o.words
		f.AnswerWords = f.words / float64(f.answers)
	}
}

// Halves are the figures of the first conversations of a file, which an engine may be tuned on, and of the last, which it is checked on. Of
// an odd number the first half has one more.
type Halves struct {
	First Figures `json:"first"`
	Last  Figures `json:"last"`
}

// Silence is about prompts that nothing answers, and small talk: less is better.
type Silence struct {
	Questions  int     `json:"questions"`
	MeanTokens float64 `json:"mean_tokens"`
	Share      float64 `json:"share_of_budget"`
	Silent     int     `json:"nothing_recalled"` // prompts beside which no recall was shown

	tokens int
}

func (s *Silence) add(a answer, budget int) {
	s.Questions++
	s.tokens += a.tokens()
	if a.bare {
		s.Silent++
	}
	s.MeanTokens = float64(s.tokens) / float64(s.Questions)
	s.Share = s.MeanTokens / float64(budget)
}

// Latency is a median and a 95th percentile.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

func latency(list []float64) Latency {
	if len(list) == 0 {
		return Latency{}
	}
	list = slices.Sorted(slices.Values(list))
	return Latency{list[len(list)/2], list[len(list)*95/100]}
}

// tally sums up one budget.
type tally struct {
	Report
	extra           bool // asked in mid-session and without stages, too
	tokens          int
	took, recalling []float64
	storing         time.Duration
}

// stored notes a conversation's size.
func (t *tally) stored(c size) {
	t.Turns += c.turns
	t.storing += c.took
	t.StoreBytes += c.bytes
	t.IndexBytes += c.index
}

// add takes up one question.
func (t *tally) add(q Question, half *Figures, a answer, o outcome) {
	t.took, t.recalling = append(t.took, millis(a.took)), append(t.recalling, a.recalling)
	switch {
	case q.Evidence == nil:
		t.NotScored++
		return
	case len(q.Evidence) == 0:
		t.NoEvidence.add(a, t.Budget)
		return
	}
	if t.tokens += a.tokens(); o.over {
		t.OverBudget++
	}
	if t.ByCategory[q.Category] == nil {
		t.ByCategory[q.Category] = &Figures{}
	}
	for _, f := range []*Figures{&t.Figures, t.ByCategory[q.Category], half} {
		f.add(o)
	}
}

func (t *tally) report() Report {
	r := t.Report
	if n := float64(r.Questions); n > 0 {
		r.MeanTokens = float64(t.tokens) / n
	} else {
		r.Halves = nil
	}
	r.Assemble, r.RecallTime = latency(t.took), latency(t.recalling)
	if s := t.storing.Seconds(); s > 0 {
		r.TurnsASecond = float64(r.Turns) / s
	}
	return r
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// folderBytes sums up a folder's files.
func folderBytes(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

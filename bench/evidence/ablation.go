package evidence

import (
	"context"
	"fmt"

	"github.com/skald-engine/skald/recall"
)

// Ablated says what a stage of recall is worth: the figures without it, and those of the same questions with it.
type Ablated struct {
	Without    recall.Stage `json:"without"`
	Questions  int          `json:"questions"`
	Recall     float64      `json:"evidence_recall"`
	Difference float64      `json:"difference"` // of it to the whole; below 0 the stage is worth something
	Words      float64      `json:"answer_words_difference"`

	whole, left Figures
}

// ablate asks again without each stage. What is shown is fitted to the same budget.
func (t *tally) ablate(ctx context.Context, p *player, q Question, whole answer) error {
	o := p.score(q, t.Budget, whole)
	for i := range t.Ablation {
		x := &t.Ablation[i]
		without := recall.Without(ctx, x.Without)
		a, err := fitted(t.Budget, whole.limit, func(try, limit int) (answer, error) {
			key := fmt.Sprintf("agent:main:without-%s-%s-%d", x.Without, q.ID, try)
			return p.put(without, prompt{text: q.Question, key: key, now: p.asking(), limit: limit, dry: true})
		})
		if err != nil {
			return err
		}
		x.whole.add(o)
		x.left.add(p.score(q, t.Budget, a))
		x.Questions, x.Recall = x.left.Questions, x.left.Recall
		x.Difference, x.Words = x.left.Recall-x.whole.Recall, x.left.AnswerWords-x.whole.AnswerWords
	}
	return nil
}

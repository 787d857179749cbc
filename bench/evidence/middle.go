package evidence

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// middleTurns is how many turns of another conversation stand in the asking session before the question.
const middleTurns = 30

// MidSession is about questions put in mid-session: the asking session holds 30 turns of another conversation of the file, each prompt of
// which was assembled before it was stored, as a host does. Beside them the same questions in a new session.
type MidSession struct {
	Questions  int     `json:"questions"`
	Recall     float64 `json:"evidence_recall"`
	New        float64 `json:"new_session_recall"`
	Difference float64 `json:"difference"`          // of the first to the second
	Turns      float64 `json:"without_its_recalls"` // evidence recall where the turns before were stored without assembles
	MeanTokens float64 `json:"mean_tokens"`

	new, middle, bare Figures
	tokens            int
}

// midSession asks in mid-session, at each budget in a copy of the store of its own: what one asks is no past of the next.
func (r *run) midSession(ctx context.Context, p *player, i int, store string) error {
	if len(r.all) < 2 {
		return nil // no other topic
	}
	topic := Session{ID: "topic", Messages: head(r.all[(i+1)%len(r.all)], middleTurns)}
	for _, t := range r.tallies {
		if !t.extra {
			continue
		}
		if t.MidSession == nil {
			t.MidSession = &MidSession{}
		}
		for _, assembled := range []bool{true, false} {
			fresh := filepath.Join(filepath.Dir(store), "middle")
			if err := os.CopyFS(fresh, os.DirFS(store)); err != nil {
				return err
			}
			err := r.opened(ctx, p, fresh, func() error { return t.middle(ctx, p, r.all[i].Questions, topic, r.Sample, assembled) })
			if err != nil {
				return err
			}
			if err := os.RemoveAll(fresh); err != nil {
				return err
			}
		}
	}
	return nil
}

// head is the first n messages of a conversation.
func head(c Conversation, n int) (list []Message) {
	for _, s := range c.Sessions {
		list = append(list, s.Messages...)
	}
	return list[:min(n, len(list))]
}

// middle plays the turns and asks.
func (t *tally) middle(ctx context.Context, p *player, questions []Question, topic Session, sample int, assembled bool) error {
	const key = "agent:main:middle"
	filler := &player{target: p.target, texts: map[string]string{}, places: map[string]string{}, order: map[string]int{}}
	if assembled {
		filler.before = func(ctx context.Context, text string, now time.Time) error {
			_, err := p.put(ctx, prompt{text: text, key: key, now: now, limit: t.Budget})
			return err
		}
	}
	if _, err := filler.session(ctx, key, topic, p.asking()); err != nil {
		return err
	}
	base, err := p.put(ctx, prompt{key: key, now: filler.end, limit: t.Budget, dry: true})
	if err != nil {
		return err
	}
	chosen := sampled(questions, sample)
	for _, q := range questions {
		if !chosen[q.ID] {
			continue
		}
		a, err := fitted(t.Budget, firstLimit(base, q.Question, t.Budget), func(_, limit int) (answer, error) {
			return p.put(ctx, prompt{text: q.Question, key: key, now: filler.end, limit: limit, dry: true})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		if err := t.MidSession.add(ctx, p, q, t.Budget, a, assembled); err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
	}
	return nil
}

// add takes up one question, and asks it in a new session of the same store.
func (m *MidSession) add(ctx context.Context, p *player, q Question, budget int, a answer, assembled bool) error {
	o := p.score(q, budget, a)
	if !assembled {
		m.bare.add(o)
		m.Turns = m.bare.Recall
		return nil
	}
	base, err := p.put(ctx, prompt{key: "agent:main:middle-new", now: p.asking(), limit: budget, dry: true})
	if err != nil {
		return err
	}
	new, err := fitted(budget, firstLimit(base, q.Question, budget), func(_, limit int) (answer, error) {
		return p.put(ctx, prompt{text: q.Question, key: "agent:main:middle-new", now: p.asking(), limit: limit, dry: true})
	})
	if err != nil {
		return err
	}
	m.middle.add(o)
	m.new.add(p.score(q, budget, new))
	m.tokens += a.tokens()
	m.Questions, m.Recall, m.New = m.middle.Questions, m.middle.Recall, m.new.Recall
	m.Difference, m.MeanTokens = m.Recall-m.New, float64(m.tokens)/float64(m.Questions)
	return nil
}

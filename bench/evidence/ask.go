package evidence

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Window is the token budget of the assemble: a usual model's. What is injected is limited by Options.Budget.
const Window = 128_000

// frame is about what stands around the recalled items beside their own account, in tokens. The engine's setting limits the items only:
// where what is shown misses the budget by more than slack, the question is asked again in another session with so much more or less.
const (
	frame = 70
	slack = 12
	tries = 4
)

// answer is what the engine injected for one question.
type answer struct {
	key     string // of the session that was asked
	context string
	ranked  []string
	took    time.Duration
}

// ask puts the question as the first prompt of a new session, a day after the last one.
func (p *player) ask(ctx context.Context, n int, q Question, budget int) (answer, error) {
	now := p.end.AddDate(0, 0, 1)
	p.target.SetClock(now)
	head, err := p.assemble(ctx, fmt.Sprintf("agent:main:head-%d-%d", n, budget), "", now, budget)
	if err != nil {
		return answer{}, err
	}
	var best answer
	left := budget - message.TextTokens(shown(head)) - message.TextTokens(q.Question) - frame
	for try := range tries {
		key := fmt.Sprintf("agent:main:question-%d-%d-%d", n, budget, try)
		began := time.Now()
		result, err := p.assemble(ctx, key, q.Question, now, max(1, left))
		took := time.Since(began)
		if err != nil {
			return answer{}, err
		}
		text := shown(result)
		rest := budget - message.TextTokens(text)
		if rest >= 0 || best.key == "" {
			best = answer{key: key, context: text, took: took}
		}
		if rest >= 0 && (rest <= slack || try > 0) || len(result.Messages) == len(head.Messages) {
			break
		}
		left += rest - slack/3
	}
	best.ranked, err = p.ranked(ctx, best.key, now)
	return best, err
}

func (p *player) request(key string, now time.Time, recall int) skald.Request {
	return skald.Request{Identity: skald.DefaultIdentity, Session: skald.SessionAddress{SessionKey: key}, Now: now.UnixMilli(),
		Settings: skald.Settings{RecallTokenBudget: &recall}}
}

func (p *player) assemble(ctx context.Context, key, prompt string, now time.Time, recall int) (skald.AssembleResult, error) {
	return p.target.Engine.Assemble(ctx, skald.AssembleRequest{Request: p.request(key, now, recall), Prompt: prompt, TokenBudget: Window,
		Model: "gpt-5", TurnID: key})
}

// shown is the text of all injected messages, and the arguments of their calls, joined by newlines.
func shown(r skald.AssembleResult) string {
	var parts []string
	for _, raw := range r.Messages {
		m, err := message.Parse(raw)
		if err != nil {
			continue
		}
		for _, b := range m.Blocks {
			switch b.Kind {
			case message.KindText:
				parts = append(parts, b.Text)
			case message.KindToolCall:
				parts = append(parts, string(b.Arguments))
			}
		}
	}
	return strings.Join(parts, "\n")
}

// ranked lists the messages that recall looked at, best first: those kept and those that there was no room for.
func (p *player) ranked(ctx context.Context, key string, now time.Time) (list []string, err error) {
	b, err := p.target.Engine.Bootstrap(ctx, skald.BootstrapRequest{Request: p.request(key, now, 1)})
	if err != nil {
		return nil, err
	}
	x, err := p.target.Inspector.Explain(ctx, skald.DefaultIdentity, b.SessionID, 0)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range merge(x.Recall.Items, x.Recall.Dropped) {
		for _, id := range p.messages(c.URI) {
			if !seen[id] {
				seen[id] = true
				list = append(list, id)
			}
		}
	}
	return list, nil
}

// merge joins two lists in order of score.
func merge(a, b []skald.RecallCandidate) (out []skald.RecallCandidate) {
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].Score >= b[0].Score {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// messages are the data's ids of the turns that a candidate stands for.
func (p *player) messages(uri skald.URI) (ids []string) {
	_, rest, ok := strings.Cut(string(uri), "/sessions/")
	if !ok {
		return nil
	}
	session, span, ok := strings.Cut(rest, "/turns/")
	if !ok {
		return nil
	}
	var from, to int64
	if n, _ := fmt.Sscanf(span, "%d-%d", &from, &to); n == 0 {
		return nil
	}
	for seq := from; seq <= max(from, to); seq++ {
		if id, ok := p.places[place(session, seq)]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}

package evidence

import (
	"context"
	"encoding/json"
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
	key       string // of the session that was asked
	context   string
	before    string // what earlier prompts of the session recalled, which is in view, too
	bare      bool   // nothing was recalled
	limit     int    // of the recalled items, in tokens, that led to this
	ranked    []string
	took      time.Duration
	recalling float64 // milliseconds
}

func (a answer) tokens() int { return message.TextTokens(a.context) }

// prompt is how a question is put.
type prompt struct {
	text  string
	key   string // of the asking session
	now   time.Time
	limit int  // of the recalled items, in tokens
	dry   bool // nothing is kept of it
}

// ask puts the question as the first prompt of a new session, a day after the last one.
func (p *player) ask(ctx context.Context, n int, q Question, budget int) (answer, error) {
	now := p.asking()
	base, err := p.put(ctx, prompt{key: fmt.Sprintf("agent:main:head-%d-%d", n, budget), now: now, limit: budget})
	if err != nil {
		return answer{}, err
	}
	a, err := fitted(budget, firstLimit(base, q.Question, budget), func(try, limit int) (answer, error) {
		return p.put(ctx, prompt{text: q.Question, key: fmt.Sprintf("agent:main:question-%d-%d-%d", n, budget, try), now: now, limit: limit})
	})
	if err != nil {
		return answer{}, err
	}
	a.ranked, a.recalling, err = p.ranked(ctx, a.key, now)
	return a, err
}

// asking is when questions are asked.
func (p *player) asking() time.Time { return p.end.AddDate(0, 0, 1) }

// firstLimit is the first guess, beside what is shown anyhow.
func firstLimit(base answer, question string, budget int) int {
	return budget - base.tokens() - message.TextTokens(question) - frame
}

// fitted asks until what is shown comes close below the budget, or nothing is recalled.
func fitted(budget, limit int, put func(try, limit int) (answer, error)) (best answer, err error) {
	for try := range tries {
		a, err := put(try, max(1, limit))
		if err != nil {
			return answer{}, err
		}
		rest := budget - a.tokens()
		if rest >= 0 || try == 0 {
			best = a
		}
		if rest >= 0 && (rest <= slack || try > 0) || a.bare {
			break
		}
		limit += rest - slack/3
	}
	return best, nil
}

func (p *player) request(key string, now time.Time, recall int) skald.Request {
	return skald.Request{Identity: skald.DefaultIdentity, Session: skald.SessionAddress{SessionKey: key}, Now: now.UnixMilli(),
		Settings: skald.Settings{RecallTokenBudget: &recall}}
}

// put asks once.
func (p *player) put(ctx context.Context, q prompt) (answer, error) {
	p.target.SetClock(q.now)
	began := time.Now()
	r, err := p.target.Engine.Assemble(ctx, skald.AssembleRequest{Request: p.request(q.key, q.now, q.limit), Prompt: q.text,
		TokenBudget: Window, Model: "gpt-5", TurnID: q.key + q.text, DryRun: q.dry})
	if err != nil {
		return answer{}, err
	}
	a := answer{key: q.key, limit: q.limit, took: time.Since(began)}
	a.read(r.Messages)
	return a, nil
}

// read takes what was injected: the message at the head, what follows the session's last turn, and, apart, the recalls of earlier prompts.
func (a *answer) read(messages []json.RawMessage) {
	last := len(messages) - 1
	for last >= 0 && message.Injected(messages[last]) {
		last--
	}
	var now, before []string
	recalls := 0
	for i, raw := range messages {
		m, err := message.Parse(raw)
		switch {
		case err != nil || !message.Injected(raw):
		case i == 0 && last >= 0 || i > last:
			now, recalls = append(now, shown(m)...), recalls+1
		default:
			before = append(before, shown(m)...)
		}
	}
	a.context, a.before = strings.Join(now, "\n"), strings.Join(before, "\n")
	a.bare = recalls <= 1 // the head at most: a recall is two messages or more
}

// shown is a message's text, and the arguments of its calls.
func shown(m *message.Message) (parts []string) {
	for _, b := range m.Blocks {
		switch b.Kind {
		case message.KindText:
			parts = append(parts, b.Text)
		case message.KindToolCall:
			parts = append(parts, string(b.Arguments))
		}
	}
	return parts
}

// ranked lists the messages that recall looked at, best first: those kept and those that there was no room for; and how long it took.
func (p *player) ranked(ctx context.Context, key string, now time.Time) (list []string, millis float64, err error) {
	b, err := p.target.Engine.Bootstrap(ctx, skald.BootstrapRequest{Request: p.request(key, now, 1)})
	if err != nil {
		return nil, 0, err
	}
	x, err := p.target.Inspector.Explain(ctx, skald.DefaultIdentity, b.SessionID, 0)
	if err != nil {
		return nil, 0, err
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
	return list, x.Recall.Millis, nil
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

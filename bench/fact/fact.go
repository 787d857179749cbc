// Package fact measures whether what was said survives compaction. A conversation is played through the engine with a small budget and
// compacted at its end; then, for every fact that it holds: do the calls that the context names lead back to the turn that states it, and
// do the summaries alone hold the words of its answer? No model reads: which calls are made is decided by words.
package fact

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	store "github.com/skald-engine/skald/store/memory"
)

// The measure's limits, in tokens, calls, and the share of an answer's distinctive words that counts as holding it.
const (
	Budget       = 16_000
	traceTokens  = 2_000
	traceCalls   = 2
	traceLimit   = 3 // turns of one call
	summaryRoom  = 3_000
	enoughAnswer = 0.75
	sessionID    = "facts"
)

// Talk is a conversation with facts. The evidence of a question names messages by their index.
type Talk struct {
	Name     string
	Messages []json.RawMessage
	Facts    []evidence.Question
}

// Result is how many of the facts survived.
type Result struct {
	Facts      int
	Traced     int // the source turn is shown, or at most two calls and 2,000 tokens away
	Summaries  int // overview and memories hold the answer within 3,000 tokens, without search in raw turns
	Everything int // the assembled context holds the answer
	Lost       []string
}

// Add sums results up.
func (r *Result) Add(o Result) {
	r.Facts, r.Traced, r.Summaries, r.Everything = r.Facts+o.Facts, r.Traced+o.Traced, r.Summaries+o.Summaries, r.Everything+o.Everything
	r.Lost = append(r.Lost, o.Lost...)
}

func (r Result) String() string {
	share := func(n int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(r.Facts, 1))) }
	return fmt.Sprintf("%d facts: traced %s, summaries alone %s, everything %s", r.Facts, share(r.Traced), share(r.Summaries), share(r.Everything))
}

// Measure plays a talk into a fresh store and looks for its facts.
func Measure(ctx context.Context, talk Talk) (Result, error) {
	m := &measure{talk: talk, texts: map[string]string{}}
	st := store.New()
	e, err := engine.New(st, engine.Options{Clock: m.now, Recall: time.Hour})
	if err != nil {
		return Result{}, err
	}
	m.engine = e
	if err := m.play(ctx); err != nil {
		return Result{}, err
	}
	if err := st.View(ctx, m.head); err != nil {
		return Result{}, err
	}
	m.judge = evidence.NewJudge(m.conversation())
	for _, q := range talk.Facts {
		if err := m.fact(ctx, q); err != nil {
			return m.result, fmt.Errorf("%s: %q: %w", talk.Name, q.Question, err)
		}
	}
	return m.result, nil
}

type measure struct {
	talk    Talk
	engine  *engine.Engine
	clock   atomic.Int64 // Unix milliseconds; jobs read it beside the talk
	notes   string       // the first message: profile, overview, index of archives
	session skald.URI
	texts   map[string]string // message index -> text
	judge   evidence.Judge
	result  Result
}

func (m *measure) now() time.Time { return time.UnixMilli(m.clock.Load()) }

func (m *measure) setClock(t time.Time) { m.clock.Store(t.UnixMilli()) }

// play delivers the talk, and compacts once at the end.
func (m *measure) play(ctx context.Context) error {
	work := func(ctx context.Context) func() {
		ctx, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); m.engine.Run(ctx, 1, time.Hour) }()
		return func() { stop(); <-done }
	}
	_, err := replay.Play(ctx, replay.Target{Engine: m.engine, Inspector: m.engine, Settle: m.engine.RunJobs, Background: work,
		SetClock: m.setClock}, m.talk.Messages,
		replay.Options{Identity: skald.DefaultIdentity, Session: sessionID, Budget: Budget, Compact: replay.CompactEnd})
	m.setClock(m.now().Add(time.Hour))
	return err
}

func (m *measure) head(tx skald.Tx) error {
	list, err := tx.Sessions(skald.SessionQuery{})
	for _, s := range list {
		m.notes, m.session = s.Head, s.Ref.URI()
	}
	return err
}

// conversation is the talk as the judge reads it.
func (m *measure) conversation() evidence.Conversation {
	var s evidence.Session
	for i, raw := range m.talk.Messages {
		id := strconv.Itoa(i)
		if p, err := message.Parse(raw); err == nil {
			m.texts[id] = p.Text()
			s.Messages = append(s.Messages, evidence.Message{ID: id, Text: p.Text()})
		}
	}
	return evidence.Conversation{Sessions: []evidence.Session{s}}
}

func (m *measure) fact(ctx context.Context, q evidence.Question) error {
	shown, err := m.assemble(ctx, q.Question)
	if err != nil {
		return err
	}
	summaries, err := m.summaries(ctx, q.Question)
	if err != nil {
		return err
	}
	traced, err := m.trace(ctx, q, shown)
	if err != nil {
		return err
	}
	m.result.Facts++
	m.count(&m.result.Traced, traced, "not traced", q)
	m.count(&m.result.Summaries, m.holds(q, summaries), "not in the summaries", q)
	m.count(&m.result.Everything, m.holds(q, shown), "not in the context", q)
	return nil
}

func (m *measure) count(n *int, ok bool, what string, q evidence.Question) {
	if ok {
		*n++
		return
	}
	m.result.Lost = append(m.result.Lost, fmt.Sprintf("%s: %s: %s (%s)", m.talk.Name, what, q.Question, q.Answer))
}

func (m *measure) holds(q evidence.Question, context string) bool {
	share, ok := m.judge.Answer(q, context)
	return ok && share >= enoughAnswer
}

// request is one of the same session.
func (m *measure) request() skald.Request {
	return skald.Request{Identity: skald.DefaultIdentity, Session: skald.SessionAddress{SessionID: sessionID}, Now: m.clock.Load()}
}

// assemble is the text of the context for a question.
func (m *measure) assemble(ctx context.Context, question string) (string, error) {
	r, err := m.engine.DryAssemble(ctx, skald.DefaultIdentity, sessionID, question, Budget)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, raw := range r.Messages {
		if p, err := message.Parse(raw); err == nil {
			b.WriteString(p.Text() + "\n")
		}
	}
	return b.String(), nil
}

// summaries is what a question gets when raw turns are not searched: the notes, then what is found of memories and overviews.
func (m *measure) summaries(ctx context.Context, question string) (string, error) {
	found, err := m.engine.Find(ctx, skald.DefaultIdentity, skald.FindQuery{Query: question, Limit: 40, Now: m.clock.Load(),
		Kinds: []skald.DocKind{skald.DocMemory, skald.DocArchive}, Session: sessionID})
	if err != nil {
		return "", err
	}
	text, room := m.notes, summaryRoom-message.TextTokens(m.notes)
	for _, h := range found.Hits {
		if n := message.TextTokens(h.Text) + 1; n <= room {
			text, room = text+"\n"+h.Text, room-n
		}
	}
	return text, nil
}

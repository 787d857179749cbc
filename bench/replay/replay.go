package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// TailSize is how many of its newest messages the host's adapter sends with an assemble.
const TailSize = 12

// The ways to compact.
const (
	CompactAuto  = "auto"  // the engine's own triggers and publications
	CompactNever = "never" // neither
	CompactEnd   = "end"   // neither, then one compact at the end
)

// Target is the engine to play through.
type Target struct {
	Engine    skald.Engine
	Inspector skald.Inspector
	// SetClock sets the engine's clock. nil: it cannot be set, and only the requests carry the conversation's time.
	SetClock func(time.Time)
	// Settle returns when no background job is due.
	Settle func(context.Context) error
	// Background works on jobs until the returned function is called: compact waits for its summary. nil: somebody else does.
	Background func(context.Context) (stop func())
}

// Options say how to play.
type Options struct {
	Identity   skald.Identity
	Session    string // id
	Strategy   string // "" is the engine's
	Budget     int    // tokens of a request
	Compact    string
	RecallForm string // auto, tool, text; "" is auto
	Key        string // the host's session key; "" when it has none
	// Observe is told of every call of the model, before the exchange is delivered; nil: nobody is.
	Observe func(Call)
}

// Player is one replay on its way. Several players can take turns on one engine, so that sessions that overlapped in time do so again.
type Player struct {
	target    Target
	options   Options
	messages  []json.RawMessage
	exchanges []exchange
	next      int // exchange to play
	before    int // archives at the start
	history   history
	report    Report
	view      view
	watch     watch
}

// Play plays a conversation, as returned by Load, and reports. An engine that fails for another reason than a too small budget ends it.
func Play(ctx context.Context, t Target, messages []json.RawMessage, o Options) (Report, error) {
	p, err := Start(ctx, t, messages, o)
	if err != nil {
		return p.report, err
	}
	for more := true; more; _, more = p.Next() {
		if err := p.Step(ctx); err != nil {
			return p.report, err
		}
	}
	return p.End(ctx)
}

// Start makes a player that has played nothing yet. There must be a message.
func Start(ctx context.Context, t Target, messages []json.RawMessage, o Options) (*Player, error) {
	p := &Player{target: t, options: o, messages: messages, report: Report{Budget: o.Budget, Session: o.Session}}
	var err error
	if p.exchanges, err = split(messages); err != nil {
		return p, err
	}
	if len(p.exchanges) == 0 {
		return p, skald.Invalid("replay.start", "messages", "there is no message to play")
	}
	p.setClock(p.exchanges[0].entries[0].time)
	if err := p.lookUp(ctx, messages); err != nil {
		return p, err
	}
	p.before, err = p.archives(ctx)
	return p, err
}

// Span is an exchange of a conversation: its messages From to To-1, and when it begins, zero when the conversation does not tell.
type Span struct {
	From, To int
	Time     time.Time
}

// Next is the exchange that Step will play; false when all are played.
func (p *Player) Next() (Span, bool) {
	if p.next == len(p.exchanges) {
		return Span{}, false
	}
	x := p.exchanges[p.next]
	return Span{From: x.start, To: x.start + len(x.entries), Time: x.entries[0].time}, true
}

// Step plays the next exchange.
func (p *Player) Step(ctx context.Context) error {
	x := p.exchanges[p.next]
	p.next++
	if err := p.exchange(ctx, x); err != nil {
		return fmt.Errorf("exchange at message %d: %w", x.start, err)
	}
	return nil
}

// End compacts where that was asked for, and reports.
func (p *Player) End(ctx context.Context) (Report, error) {
	if err := p.end(ctx, p.exchanges[len(p.exchanges)-1].last().time); err != nil {
		return p.report, err
	}
	after, err := p.archives(ctx)
	p.report.Commits = after - p.before
	p.watch.close(&p.report)
	return p.report, err
}

// exchange plays one exchange: assemble before each assistant message, then commitTurn, then the jobs. An exchange that is stored already
// is only delivered again, as the host does with what was not acknowledged.
func (p *Player) exchange(ctx context.Context, x exchange) error {
	p.view = view{}
	delivered := x.start+len(x.entries) <= p.history.known
	for i, e := range x.entries {
		if e.msg.SkaldRole() != skald.RoleAssistant || delivered {
			continue
		}
		if err := p.modelCall(ctx, x, i); err != nil {
			return err
		}
	}
	if err := p.commitTurn(ctx, x); err != nil {
		return err
	}
	if p.options.Compact != CompactAuto || delivered {
		return nil
	}
	return p.target.Settle(ctx)
}

// request is the common part of every request.
func (p *Player) request(now int64) skald.Request {
	no := p.options.Compact != CompactAuto
	return skald.Request{
		Identity: p.options.Identity,
		Session:  skald.SessionAddress{SessionID: p.options.Session, SessionKey: p.options.Key, AgentID: p.options.Identity.Agent},
		Settings: skald.Settings{RecallForm: p.options.RecallForm, Strategy: p.options.Strategy, NoCommit: &no},
		Now:      now,
	}
}

func (p *Player) at(t time.Time) skald.Request {
	p.setClock(t)
	if t.IsZero() {
		return p.request(0)
	}
	return p.request(t.UnixMilli())
}

func (p *Player) setClock(t time.Time) {
	if p.target.SetClock != nil && !t.IsZero() {
		p.target.SetClock(t)
	}
}

// commitTurn delivers the exchange under a key that is the same in every replay of the conversation into this session.
func (p *Player) commitTurn(ctx context.Context, x exchange) error {
	r := skald.CommitTurnRequest{
		Request: p.at(x.last().time), AdvancementKey: p.key(x), Messages: x.raws(len(x.entries)), TokenBudget: p.options.Budget,
		Admission: p.anchor(x.start), Terminal: p.anchor(x.start + len(x.entries) - 1), TurnID: p.turnID(x),
		Heartbeat: x.users > 0 && message.Heartbeat(x.prompt()),
	}
	started := time.Now()
	result, err := p.target.Engine.CommitTurn(ctx, r)
	p.watch.commits = append(p.watch.commits, time.Since(started))
	if err != nil {
		return err
	}
	p.report.Stored += result.Stored
	if result.Reason != "" {
		p.report.NotStored += len(x.entries) - result.Stored
	} else {
		p.report.Duplicates += len(x.entries) - result.Stored
	}
	return nil
}

// anchor is the host's position of a message: entry ids count from 1, positions from 0, both over the whole session.
func (p *Player) anchor(i int) *skald.Anchor {
	n := int64(len(p.history.before) + i)
	return &skald.Anchor{EntryID: fmt.Sprintf("e%d", n+1), RawSeq: n + 1, Position: n}
}

func (p *Player) key(x exchange) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%d\x00", p.options.Session, len(p.history.before)+x.start)
	for _, e := range x.entries {
		h.Write(e.raw)
		h.Write([]byte{'\n'})
	}
	return "replay-" + hex.EncodeToString(h.Sum(nil))[:32]
}

func (p *Player) turnID(x exchange) string { return "turn-" + p.key(x) }

// end compacts once, where that was asked for.
func (p *Player) end(ctx context.Context, now time.Time) error {
	if p.options.Compact != CompactEnd {
		return nil
	}
	if p.target.Background != nil {
		defer p.target.Background(ctx)()
	}
	result, err := p.target.Engine.Compact(ctx, skald.CompactRequest{
		Request: p.at(now), TokenBudget: p.options.Budget, Force: true, Target: "threshold", Trigger: "manual",
	})
	if err != nil {
		return err
	}
	if result.Compacted {
		p.report.Publications++
	}
	p.report.Compact = &result
	return p.target.Settle(ctx)
}

// archives is how many commits the session has behind it.
func (p *Player) archives(ctx context.Context) (int, error) {
	list, err := p.target.Inspector.ListSessions(ctx, p.options.Identity, 0)
	for _, s := range list {
		if s.ID == p.report.SessionID {
			return s.Archives, err
		}
	}
	return 0, err
}

package slot

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Slot holds the selected engine. Its calls never fail: where the engine does, legacy answers. It is safe for concurrent use as far as the
// engine is.
type Slot struct {
	id     string
	engine Engine
	legacy *legacy
	host   Host
	guard  guard

	mu   sync.Mutex
	owed map[string]int // session -> first message that the engine was not given
}

// Info is the engine's.
func (s *Slot) Info() Info { return s.engine.Info() }

// Status says how the engine fares.
func (s *Slot) Status() Status { return s.guard.status(s.id) }

// Release ends a quarantine or a pause: what failed was mended.
func (s *Slot) Release() { s.guard.release() }

// Dispose lets the engine go.
func (s *Slot) Dispose() error {
	if e, ok := s.engine.(Disposer); ok {
		return e.Dispose()
	}
	return nil
}

// Bootstrap opens a session.
func (s *Slot) Bootstrap(ctx context.Context, r skald.BootstrapRequest) skald.BootstrapResult {
	e, ok := s.engine.(Bootstrapper)
	if !ok {
		return skald.BootstrapResult{}
	}
	out, _ := guarded(ctx, s, "bootstrap", session(r.Request), s.host.Deadline, func(ctx context.Context) (skald.BootstrapResult, error) {
		return e.Bootstrap(ctx, r)
	}, nil)
	return out
}

// Assemble returns what the model shall see before the prompt, within the budget, calls paired with their results. r.Tail is the whole list.
func (s *Slot) Assemble(ctx context.Context, r skald.AssembleRequest) skald.AssembleResult {
	if r.TokenBudget <= 0 {
		r.TokenBudget = s.host.Budget
	}
	r.MessageCount = len(r.Tail)
	own := r
	own.Tail = clone(r.Tail) // what the engine does to its list is its own affair
	out, ok := guarded(ctx, s, "assemble", session(r.Request), s.host.Deadline, func(ctx context.Context) (skald.AssembleResult, error) {
		return s.engine.Assemble(ctx, own)
	}, func(out skald.AssembleResult) error { return fits(out, r) })
	if !ok {
		s.guard.fellBack()
		out, _ = s.legacy.Assemble(ctx, r) // has an answer always
	}
	out.EstimatedTokens = tokens(out.Messages)
	return out
}

// fits refuses what must not reach a provider.
func fits(out skald.AssembleResult, r skald.AssembleRequest) error {
	bad := func(format string, args ...any) error { return skald.E("", skald.KindInvalid, format, args...) }
	if len(out.Messages) == 0 && len(r.Tail) > 0 {
		return bad("no messages for a session that has %d", len(r.Tail))
	}
	for i, raw := range out.Messages {
		var m struct {
			Role string `json:"role"`
		}
		if err := json.Unmarshal(raw, &m); err != nil || m.Role == "" {
			return bad("message %d is not one: %.80s", i, raw)
		}
	}
	if n := tokens(out.Messages); n > r.TokenBudget {
		return bad("%d tokens in a budget of %d", n, r.TokenBudget)
	}
	if broken := message.CheckPairs(out.Messages); len(broken) > 0 {
		return bad("calls and results are not paired: %s", broken[0])
	}
	return nil
}

// Ingest gives the engine single messages.
func (s *Slot) Ingest(ctx context.Context, r skald.IngestRequest) skald.CommitTurnResult {
	e, ok := s.engine.(Ingester)
	if !ok {
		return skald.CommitTurnResult{}
	}
	r.Messages = clone(r.Messages)
	out, _ := guarded(ctx, s, "ingest", session(r.Request), s.host.Deadline, func(ctx context.Context) (skald.CommitTurnResult, error) {
		return e.Ingest(ctx, r)
	}, nil)
	return out
}

// AfterTurn gives the engine what is new, and what it missed while it was not to be called.
func (s *Slot) AfterTurn(ctx context.Context, r skald.AfterTurnRequest) skald.CommitTurnResult {
	e, ok := s.engine.(TurnKeeper)
	if !ok {
		return skald.CommitTurnResult{}
	}
	id := session(r.Request)
	s.mu.Lock()
	if first, owes := s.owed[id]; owes {
		r.PrePromptMessageCount = min(first, r.PrePromptMessageCount)
	}
	s.owed[id] = r.PrePromptMessageCount
	s.mu.Unlock()
	r.Messages = clone(r.Messages)
	out, ok := guarded(ctx, s, "afterTurn", id, s.host.Deadline, func(ctx context.Context) (skald.CommitTurnResult, error) {
		return e.AfterTurn(ctx, r)
	}, nil)
	if ok {
		s.mu.Lock()
		delete(s.owed, id)
		s.mu.Unlock()
	}
	return out
}

// PrepareSubagent and SubagentEnded tell the engine of a child.
func (s *Slot) PrepareSubagent(ctx context.Context, r skald.SubagentRequest) {
	s.subagent(ctx, "prepareSubagentSpawn", r, Parent.PrepareSubagent)
}

// SubagentEnded tells of a child's end.
func (s *Slot) SubagentEnded(ctx context.Context, r skald.SubagentRequest) {
	s.subagent(ctx, "onSubagentEnded", r, Parent.SubagentEnded)
}

func (s *Slot) subagent(ctx context.Context, op string, r skald.SubagentRequest, call func(Parent, context.Context, skald.SubagentRequest) error) {
	if e, ok := s.engine.(Parent); ok {
		guarded(ctx, s, op, session(r.Request), s.host.Deadline, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, call(e, ctx, r)
		}, nil)
	}
}

func session(r skald.Request) string {
	return skald.SessionID(r.Session.SessionID, r.Session.SessionKey)
}

func tokens(list []json.RawMessage) (n int) {
	for _, m := range list {
		n += message.Tokens(m)
	}
	return n
}

func clone(list []json.RawMessage) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, m := range list {
		out[i] = bytes.Clone(m)
	}
	return out
}

// Package slot is the one place in a Go or HTTP host that a context engine fills (document 003, section 2). Engines are registered under an
// id, one of them is selected at the start, and a guard stands around it: whatever the engine does, each turn of the host is answered, on
// legacy if need be.
package slot

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skald-engine/skald"
)

// Info is what an engine says of itself (003-006). OwnsCompaction false means that its Compact calls Delegate.
type Info struct {
	ID             string
	Name           string
	OwnsCompaction bool
}

// Engine chooses what the model sees. The other hooks of document 003, section 2.2, are implemented as needed: Bootstrapper, Ingester,
// TurnKeeper, Compactor (every engine needs it, to compact or to delegate), Parent, Disposer.
type Engine interface {
	Info() Info
	// Assemble chooses messages within r.TokenBudget tokens. r.Tail is the host's whole list.
	Assemble(ctx context.Context, r skald.AssembleRequest) (skald.AssembleResult, error)
}

// Bootstrapper is told of each session before its first turn.
type Bootstrapper interface {
	Bootstrap(ctx context.Context, r skald.BootstrapRequest) (skald.BootstrapResult, error)
}

// Ingester is given single messages as they come.
type Ingester interface {
	Ingest(ctx context.Context, r skald.IngestRequest) (skald.CommitTurnResult, error)
}

// TurnKeeper is given what is new after each turn.
type TurnKeeper interface {
	AfterTurn(ctx context.Context, r skald.AfterTurnRequest) (skald.CommitTurnResult, error)
}

// Compactor makes the context smaller, or calls Delegate. To do neither is a fault: the host's own compaction is off (003-007).
type Compactor interface {
	Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error)
}

// Parent decides what a sub-agent takes along and what becomes of its end.
type Parent interface {
	PrepareSubagent(ctx context.Context, r skald.SubagentRequest) error
	SubagentEnded(ctx context.Context, r skald.SubagentRequest) error
}

// Disposer lets go of what the engine holds.
type Disposer interface{ Dispose() error }

// Of makes an engine for the slot of one that implements all calls: an engine.Engine in this process, or a client.Client of a daemon.
// dispose lets go of what it holds; nil: nothing.
func Of(info Info, e skald.Engine, dispose func() error) Engine { return whole{e, info, dispose} }

type whole struct {
	skald.Engine
	info    Info
	dispose func() error
}

// Info implements Engine.
func (w whole) Info() Info { return w.info }

// Dispose implements Disposer.
func (w whole) Dispose() error {
	if w.dispose == nil {
		return nil
	}
	return w.dispose()
}

// Host is what a host says of itself. The zero value works.
type Host struct {
	Config   json.RawMessage // handed to the engine's factory
	Compact  Compact         // the host's own compaction; nil: it has none
	Budget   int             // tokens before the prompt where a request names none; 0: 128,000
	Deadline time.Duration   // of one call; 0: 5 s. A compaction has twelve times as long
	Clock    func() time.Time
	Log      *slog.Logger
}

// Compact is a compaction, such as the host's own.
type Compact func(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error)

// Factory makes an engine for a host.
type Factory func(host Host) (Engine, error)

// Legacy is the id of the default engine: the newest messages that fit, and a summary of the oldest.
const Legacy = "legacy"

var (
	mu        sync.Mutex
	factories = map[string]Factory{Legacy: func(host Host) (Engine, error) { return newLegacy(host), nil }}
)

// Register adds an engine. KindConflict when the id is taken, KindInvalid when it is empty.
func Register(id string, factory Factory) error {
	mu.Lock()
	defer mu.Unlock()
	if id == "" || factory == nil {
		return skald.Invalid("slot.register", "id", "an engine needs an id and a factory")
	}
	if factories[id] != nil {
		return skald.E("slot.register", skald.KindConflict, "an engine %q is registered already", id)
	}
	factories[id] = factory
	return nil
}

// Known lists the registered ids.
func Known() []string {
	mu.Lock()
	defer mu.Unlock()
	var ids []string
	for id := range factories {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Select fills the slot with one engine; "" is legacy. It fails, and nothing takes its place unasked (C-16), when the id is not known, when
// the engine cannot be made, and when it neither compacts nor can delegate.
func Select(id string, host Host) (*Slot, error) {
	if id == "" {
		id = Legacy
	}
	mu.Lock()
	factory := factories[id]
	mu.Unlock()
	if factory == nil {
		return nil, skald.Invalid("slot.select", "engine", "%q is not known; known are: %s", id, strings.Join(Known(), ", "))
	}
	host = host.withDefaults()
	e, err := made(factory, host)
	if err != nil {
		return nil, skald.E("slot.select", skald.KindOf(err), "engine %q: %w", id, err)
	}
	if err := compacts(e, host); err != nil {
		return nil, err
	}
	return &Slot{id: id, engine: e, legacy: newLegacy(host), host: host, guard: guard{clock: host.Clock}, owed: map[string]int{}}, nil
}

// made calls the factory; its panic is an error.
func made(factory Factory, host Host) (e Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = skald.E("factory", skald.KindInternal, "panic: %v", p)
		}
	}()
	if e, err = factory(host); err == nil && e == nil {
		err = skald.E("factory", skald.KindInternal, "it made no engine")
	}
	return e, err
}

// compacts refuses an engine that would leave the context to grow.
func compacts(e Engine, host Host) error {
	_, ok := e.(Compactor)
	info := e.Info()
	switch {
	case !ok:
		return skald.Invalid("slot.select", "engine", "%q has no Compact: it has to compact or to delegate", info.ID)
	case !info.OwnsCompaction && host.Compact == nil:
		return skald.Invalid("slot.select", "engine", "%q delegates compaction, and this host has none", info.ID)
	}
	return nil
}

func (h Host) withDefaults() Host {
	if h.Budget <= 0 {
		h.Budget = 128_000
	}
	if h.Deadline <= 0 {
		h.Deadline = 5 * time.Second
	}
	if h.Clock == nil {
		h.Clock = time.Now
	}
	if h.Log == nil {
		h.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return h
}

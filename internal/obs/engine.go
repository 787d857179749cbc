package obs

import (
	"context"
	"time"

	skald "github.com/skald-engine/skald"
)

// Watch is e with its calls measured: latency by call and outcome, and the turns stored.
func (m *Metrics) Watch(e skald.Engine) skald.Engine { return watched{Engine: e, m: m} }

// watched measures the calls that matter on a turn's path; the others pass through.
type watched struct {
	skald.Engine
	m *Metrics
}

func measured[Req, Res any](ctx context.Context, m *Metrics, name string,
	call func(context.Context, Req) (Res, error), r Req) (Res, error) {
	start := time.Now()
	res, err := call(ctx, r)
	m.Call(name, err, time.Since(start))
	return res, err
}

func (w watched) stored(res skald.CommitTurnResult, err error) (skald.CommitTurnResult, error) {
	if err == nil {
		w.m.TurnsStored(res.Stored)
	}
	return res, err
}

func (w watched) CommitTurn(ctx context.Context, r skald.CommitTurnRequest) (skald.CommitTurnResult, error) {
	return w.stored(measured(ctx, w.m, "commit_turn", w.Engine.CommitTurn, r))
}

func (w watched) AfterTurn(ctx context.Context, r skald.AfterTurnRequest) (skald.CommitTurnResult, error) {
	return w.stored(measured(ctx, w.m, "after_turn", w.Engine.AfterTurn, r))
}

func (w watched) Ingest(ctx context.Context, r skald.IngestRequest) (skald.CommitTurnResult, error) {
	return w.stored(measured(ctx, w.m, "ingest", w.Engine.Ingest, r))
}

func (w watched) Reconcile(ctx context.Context, r skald.ReconcileRequest) (skald.ReconcileResult, error) {
	res, err := measured(ctx, w.m, "reconcile", w.Engine.Reconcile, r)
	if err == nil {
		w.m.TurnsStored(res.Imported)
	}
	return res, err
}

func (w watched) Assemble(ctx context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
	return measured(ctx, w.m, "assemble", w.Engine.Assemble, r)
}

func (w watched) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	return measured(ctx, w.m, "compact", w.Engine.Compact, r)
}

func (w watched) Tool(ctx context.Context, r skald.ToolRequest) (skald.ToolAnswer, error) {
	return measured(ctx, w.m, "tool", w.Engine.Tool, r)
}

package engineapi

import (
	"context"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/chat"
	"github.com/skald-engine/skald/server/wire"
)

// lifecycle adds one route for each call of skald.Engine, and one for the commands that people type into a chat.
func (h *Handler) lifecycle(mux *http.ServeMux) {
	e := h.Engine
	handle(mux, "POST /engine/v1/bootstrap", call(e.Bootstrap, wire.BootstrapResult,
		func(r *skald.BootstrapRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/reconcile", call(e.Reconcile, plain,
		func(r *skald.ReconcileRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/commit_turn", call(e.CommitTurn, plain,
		func(r *skald.CommitTurnRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/after_turn", call(e.AfterTurn, plain,
		func(r *skald.AfterTurnRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/ingest", call(e.Ingest, plain,
		func(r *skald.IngestRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/assemble", call(e.Assemble, wire.AssembleResult,
		func(r *skald.AssembleRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/compact", call(e.Compact, plain,
		func(r *skald.CompactRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/tool", call(e.Tool, wire.ToolAnswer,
		func(r *skald.ToolRequest) *skald.Request { return &r.Request }))
	handle(mux, "POST /engine/v1/event", call(silent(e.Event), plain,
		func(r *skald.EventRequest) *skald.Request { return &r.Request }))
	commands := &chat.Commands{Engine: e, Inspector: h.Inspector}
	handle(mux, "POST /engine/v1/command", call(commands.Run, plain,
		func(r *wire.CommandRequest) *skald.Request { return &r.Request }))
	for path, f := range map[string]func(context.Context, skald.SubagentRequest) error{
		"subagent_prepare":  e.PrepareSubagent,
		"subagent_rollback": e.RollbackSubagent,
		"subagent_ended":    e.SubagentEnded,
	} {
		handle(mux, "POST /engine/v1/"+path, call(silent(f), plain,
			func(r *skald.SubagentRequest) *skald.Request { return &r.Request }))
	}
}

// call decodes a request, sets who calls, calls the engine, and encodes its result.
func call[Req, Res any](do func(context.Context, Req) (Res, error), encode func(Res) ([]byte, error),
	common func(*Req) *skald.Request) action {
	return func(r *http.Request, id skald.Identity) ([]byte, error) {
		var req Req
		if err := wire.Decode(r, &req); err != nil {
			return nil, err
		}
		c := common(&req)
		id, err := wire.OfAgent(id, c.Session.AgentID, "session.agent_id")
		if err != nil {
			return nil, err
		}
		c.Identity = id
		res, err := do(r.Context(), req)
		if err != nil {
			return nil, err
		}
		return encode(res)
	}
}

// plain encodes a result that holds no verbatim JSON.
func plain[T any](v T) ([]byte, error) { return wire.Encode(v) }

// silent makes a call without a result answer an empty object.
func silent[Req any](do func(context.Context, Req) error) func(context.Context, Req) (struct{}, error) {
	return func(ctx context.Context, r Req) (struct{}, error) { return struct{}{}, do(ctx, r) }
}

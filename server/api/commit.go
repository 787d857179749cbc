package api

import (
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// maxKeepRecent is the most messages that a commit may leave open.
const maxKeepRecent = 10_000

type commitBody struct {
	KeepRecent   int     `json:"keep_recent_count"`
	Mode         *string `json:"retention_mode"`
	KeepTurns    *int    `json:"keep_recent_turn_count"`
	RetainTokens *int    `json:"retained_message_token_budget"`
	MinTailSteps *int    `json:"min_raw_tail_steps"`
}

func (h *Handler) commit(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	var b commitBody
	if err := decode(r, &b, true); err != nil {
		return nil, err
	}
	o, err := b.options()
	if err != nil {
		return nil, err
	}
	c, err := h.backend.ArchiveSession(r.Context(), id, session, o)
	if err != nil {
		return nil, noSession(err, session)
	}
	return committed(session, wire.RequestID(r.Context()), c), nil
}

func (b commitBody) options() (CommitOptions, error) {
	var v issues
	if b.KeepRecent < 0 || b.KeepRecent > maxKeepRecent {
		v.add(inBody("keep_recent_count"), "value_error", "Input should be between 0 and %d", maxKeepRecent)
	}
	if b.Mode != nil && *b.Mode != "turn_budget" {
		v.add(inBody("retention_mode"), "literal_error", "Input should be 'turn_budget'")
	}
	o := CommitOptions{KeepRecent: b.KeepRecent, TurnBudget: b.Mode != nil}
	for _, f := range []struct {
		name  string
		given *int
		least int
		to    *int
	}{
		{"keep_recent_turn_count", b.KeepTurns, 0, &o.KeepTurns},
		{"retained_message_token_budget", b.RetainTokens, 1, &o.RetainTokens},
		{"min_raw_tail_steps", b.MinTailSteps, 0, &o.MinTailSteps},
	} {
		switch {
		case f.given == nil:
		case b.Mode == nil:
			v.add(inBody(f.name), "value_error", "needs retention_mode")
		case *f.given < f.least:
			v.add(inBody(f.name), "greater_than_equal", "Input should be greater than or equal to %d", f.least)
		default:
			*f.to = *f.given
		}
	}
	return o, v.err()
}

func committed(session, trace string, c Committed) map[string]any {
	out := map[string]any{
		"session_id": session, "status": "accepted", "task_id": c.Task, "archive_uri": c.Archive,
		"archived": c.Archived, "trace_id": trace,
		"estimated_active_tokens": c.ActiveTokens, "budget_exceeded": c.BudgetExceeded,
	}
	if !c.Archived {
		out["status"], out["reason"], out["task_id"], out["archive_uri"] = "skipped", c.Reason, nil, nil
	}
	return out
}

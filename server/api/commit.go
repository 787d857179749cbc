package api

import (
	"encoding/json"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// turnBudget is the retention mode that keeps exchanges within a budget.
const turnBudget = "turn_budget"

// maxKeepRecent is the most messages that a commit may leave open.
const maxKeepRecent = 10_000

type commitBody struct {
	KeepRecent   int     `json:"keep_recent_count"`
	Mode         *string `json:"retention_mode"`
	KeepTurns    *int    `json:"keep_recent_turn_count"`
	RetainTokens *int    `json:"retained_message_token_budget"`
	MinTailSteps *int    `json:"min_raw_tail_steps"`

	Extraction json.RawMessage `json:"extraction_metadata"`
	Reset      bool            `json:"reset_context"`
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
	out := committed(session, wire.RequestID(r.Context()), c)
	if o.Reset {
		out["reset_context"] = true
	}
	return out, nil
}

func (b commitBody) options() (CommitOptions, error) {
	var v issues
	switch {
	case b.KeepRecent < 0:
		v.add(inBody("keep_recent_count"), "greater_than_equal", "Input should be greater than or equal to 0")
	case b.KeepRecent > maxKeepRecent:
		v.add(inBody("keep_recent_count"), "less_than_equal", "Input should be less than or equal to %d", maxKeepRecent)
	}
	if b.Mode != nil && *b.Mode != turnBudget {
		v.add(inBody("retention_mode"), "literal_error", "Input should be 'turn_budget'")
	}
	o := CommitOptions{KeepRecent: b.KeepRecent, TurnBudget: b.Mode != nil, Reset: b.Reset}
	if b.Reset && (b.KeepRecent > 0 || b.Mode != nil) {
		v.add(inBody("reset_context"), "value_error", "reset_context archives all messages, so nothing can be kept")
	}
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
	if err := v.err(); err != nil {
		return o, err
	}
	var err error
	o.EventTags, err = commitTags(b.Extraction)
	return o, err
}

// commitTags reads extraction_metadata; nil for none.
func commitTags(raw json.RawMessage) ([]string, error) {
	if isNull(raw) {
		return nil, nil
	}
	loc := inBody("extraction_metadata")
	var given map[string]json.RawMessage
	if err := decodeObject(raw, loc, &given); err != nil {
		return nil, err
	}
	if err := only(given, loc, "event"); err != nil || isNull(given["event"]) {
		return nil, err
	}
	return eventTags(given["event"], append(loc, "event"), true)
}

func committed(session, trace string, c Committed) map[string]any {
	out := map[string]any{
		"session_id": session, "status": "accepted", "task_id": c.Task, "archive_uri": c.Archive,
		"archived": c.Archived, "trace_id": trace, "effective_enable_working_memory": true,
		"estimated_active_tokens": c.ActiveTokens, "budget_exceeded": c.BudgetExceeded,
	}
	if !c.Archived {
		out["status"], out["reason"], out["task_id"], out["archive_uri"] = "skipped", c.Reason, nil, nil
	}
	return out
}

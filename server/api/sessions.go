package api

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

func (h *Handler) sessions(mux *http.ServeMux) {
	full(mux, "POST /api/v1/sessions", h.createSession)
	full(mux, "GET /api/v1/sessions", h.listSessions)
	full(mux, "GET /api/v1/sessions/{id}", h.getSession)
	full(mux, "DELETE /api/v1/sessions/{id}", h.deleteSession)
	short(mux, "POST /api/v1/sessions/{id}/commit", h.commit)
	full(mux, "GET /api/v1/sessions/{id}/context", h.sessionContext)
	full(mux, "GET /api/v1/sessions/{id}/archives/{archive}", h.archive)
	full(mux, "POST /api/v1/sessions/{id}/used", h.used)
}

type createBody struct {
	ID         string          `json:"session_id"`
	Memory     json.RawMessage `json:"memory_policy"`
	AutoCommit json.RawMessage `json:"auto_commit_policy"`
	Extraction json.RawMessage `json:"memory_extraction_config"`
}

func (h *Handler) createSession(r *http.Request, id skald.Identity) (any, error) {
	var b createBody
	if err := decode(r, &b, true); err != nil {
		return nil, err
	}
	n, err := b.session(time.Now())
	if err != nil {
		return nil, err
	}
	s, err := h.backend.CreateSession(r.Context(), id, n)
	switch {
	case skald.KindOf(err) == skald.KindExists:
		return nil, &wire.Failure{Kind: skald.KindExists, Message: "Session " + n.ID + " already exists",
			Details: map[string]any{"resource": n.ID, "type": "session"}}
	case err != nil:
		return nil, err
	}
	return map[string]any{
		"session_id": s.ID, "uri": s.URI, "user": userOf(id),
		"auto_commit_policy": s.AutoCommit, "memory_extraction_config": extractionOf(s),
	}, nil
}

func (b createBody) session(now time.Time) (n NewSession, err error) {
	n.ID = newSessionID(now)
	if b.ID != "" {
		if n.ID, err = safeSession(b.ID, inBody("session_id")); err != nil {
			return n, err
		}
	}
	change, err := parseAutoCommit(b.AutoCommit, inBody("auto_commit_policy"))
	if err != nil {
		return n, err
	}
	n.AutoCommit = change.Apply(nil)
	if n.EventTags, err = parseExtraction(b.Extraction, inBody("memory_extraction_config")); err != nil {
		return n, err
	}
	n.Memory, err = parseMemoryPolicy(b.Memory)
	return n, err
}

func newSessionID(now time.Time) string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}

func userOf(id skald.Identity) map[string]string {
	return map[string]string{"account_id": id.Account, "user_id": id.User}
}

func extractionOf(s Session) any {
	return map[string]any{"events": map[string]any{"tags": wire.List(s.EventTags)}}
}

func (h *Handler) listSessions(r *http.Request, id skald.Identity) (any, error) {
	list, err := h.inspector.ListSessions(r.Context(), id, 0)
	if err != nil {
		return nil, err
	}
	type item struct {
		ID       string    `json:"session_id"`
		URI      skald.URI `json:"uri"`
		Dir      bool      `json:"is_dir"`
		Modified string    `json:"mod_time"`
	}
	items := make([]item, len(list))
	for i, s := range list {
		items[i] = item{s.ID, s.URI, true, timestamp(s.Updated)}
	}
	return items, nil
}

func (h *Handler) getSession(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	q := query{r: r}
	create := q.bool("auto_create")
	if err := q.err(); err != nil {
		return nil, err
	}
	s, err := h.backend.GetSession(r.Context(), id, session, create)
	if err != nil {
		return nil, notThere(err, session)
	}
	return meta(s, id), nil
}

// noSession is OpenViking's answer to an unknown session. When it was deleted is said as well.
func noSession(err error, session string) error {
	return missing(err, session, "Session not found: "+session, false)
}

// notThere is the same in the words of the calls that read and set a session.
func notThere(err error, session string) error {
	return missing(err, session, "Session "+session+" not found", true)
}

func missing(err error, session, message string, bare bool) error {
	if skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	if deleted := new(skald.Error); errors.As(err, &deleted) && deleted.Field == "deleted" {
		message += ": " + deleted.Err.Error()
	}
	return &wire.Failure{
		Kind: skald.KindNotFound, Message: message, Bare: bare,
		Details: map[string]any{"resource": session, "type": "session"},
	}
}

// meta is OpenViking's SessionMeta. Token usage of models is not counted by session here.
func meta(s Session, id skald.Identity) map[string]any {
	keep, mode := s.Keep, ""
	if keep.TurnBudget {
		mode = turnBudget
	}
	return map[string]any{
		"session_id": s.ID, "uri": s.URI, "user": userOf(id),
		"created_at": instant(s.Created), "updated_at": instant(s.Updated),
		"created_by_account_id": id.Account, "created_by_user_id": id.User,
		"message_count": s.Live, "total_message_count": s.Total, "commit_count": s.Commits,
		"memories_extracted": withTotal(s.Memories), "last_commit_at": instant(s.LastCommit),
		"last_message_at": instant(s.LastMessage), "last_auto_commit_at": instant(s.LastAutoCommit),
		"last_idle_commit_accepted_at": instant(s.LastIdleCommit),
		"llm_token_usage": map[string]int{
			"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0,
		},
		"embedding_token_usage": map[string]int{"total_tokens": 0},
		"pending_tokens":        s.PendingTokens, "keep_recent_count": keep.KeepRecent, "retention_mode": mode,
		"keep_recent_turn_count": keep.KeepTurns, "retained_message_token_budget": keep.RetainTokens,
		"min_raw_tail_steps": max(keep.MinTailSteps, 1),
		"memory_policy":      s.Memory, "auto_commit_policy": s.AutoCommit, "memory_extraction_config": extractionOf(s),
		"contexts_used": s.ContextsUsed, "skills_used": s.SkillsUsed,
	}
}

// instant is a time, "" for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return timestamp(t)
}

func withTotal(byType map[string]int) map[string]int {
	out, total := map[string]int{}, 0
	for t, n := range byType {
		out[t], total = n, total+n
	}
	out["total"] = total
	return out
}

func (h *Handler) deleteSession(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	if _, err := h.backend.GetSession(r.Context(), id, session, false); err != nil { // the inspector would take a host's key for an id
		return nil, noSession(err, session)
	}
	if _, err := h.inspector.DeleteSession(r.Context(), id, session); err != nil {
		return nil, noSession(err, session)
	}
	return map[string]string{"session_id": session}, nil
}

type usedBody struct {
	Contexts []string `json:"contexts"`
	Skill    *struct {
		URI     string `json:"uri"`
		Input   string `json:"input"`
		Output  string `json:"output"`
		Success *bool  `json:"success"`
	} `json:"skill"`
}

func (h *Handler) used(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	var b usedBody
	if err := decode(r, &b, true); err != nil {
		return nil, err
	}
	u := Used{Contexts: b.Contexts}
	if b.Skill != nil {
		u.Skill = &skald.UsedSkill{URI: b.Skill.URI, Input: b.Skill.Input, Output: b.Skill.Output, Success: b.Skill.Success}
	}
	totals, err := h.backend.MarkUsed(r.Context(), id, session, u)
	if err != nil {
		return nil, noSession(err, session)
	}
	return map[string]any{"session_id": session, "contexts_used": totals.Contexts, "skills_used": totals.Skills}, nil
}

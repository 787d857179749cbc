package api

import (
	"net/http"
	"strconv"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// defaultBudget is the tokens of a context when the caller names none.
const defaultBudget = 128_000

func (h *Handler) sessionContext(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	budget, err := tokenBudget(r)
	if err != nil {
		return nil, err
	}
	c, err := h.backend.SessionContext(r.Context(), id, session, budget)
	if err != nil {
		return nil, noSession(err, session)
	}
	return map[string]any{
		"latest_archive_overview": c.Overview, "pre_archive_abstracts": wire.List(c.Abstracts),
		"messages": render(session, c.Messages), "estimatedTokens": c.Tokens, "stats": c.Stats,
	}, nil
}

func tokenBudget(r *http.Request) (int, error) {
	q := query{r: r}
	text := q.text("token_budget")
	budget, err := strconv.Atoi(text)
	switch {
	case text == "":
		return defaultBudget, nil
	case err != nil:
		return 0, invalid([]string{"query", "token_budget"}, "int_parsing", "Input should be a valid integer")
	case budget < 0:
		return 0, &wire.Failure{
			Kind: skald.KindInvalid, Field: "token_budget", Bare: true, Message: "token_budget must be greater than or equal to 0",
			Details: map[string]any{"field": "token_budget", "value": budget},
		}
	}
	return budget, nil
}

func (h *Handler) archive(r *http.Request, id skald.Identity) (any, error) {
	session, name, index, err := archiveID(r)
	if err != nil {
		return nil, err
	}
	a, err := h.backend.SessionArchive(r.Context(), id, session, index)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return nil, noArchive(name)
	case err != nil:
		return nil, err
	}
	return map[string]any{
		"archive_id": skald.ArchiveID(a.Index), "abstract": a.Abstract, "overview": a.Overview,
		"messages": render(session, a.Messages),
	}, nil
}

// archiveID is the session and the archive that a path names.
func archiveID(r *http.Request) (session, name string, index int, err error) {
	if session, err = sessionID(r); err != nil {
		return "", "", 0, err
	}
	name = r.PathValue("archive")
	index, ok := skald.ParseArchiveID(name)
	if !ok {
		err = noArchive(name)
	}
	return session, name, index, err
}

func noArchive(name string) error {
	return &wire.Failure{
		Kind: skald.KindNotFound, Message: "Archive " + name + " not found", Bare: true,
		Details: map[string]any{"resource": name, "type": "archive"},
	}
}

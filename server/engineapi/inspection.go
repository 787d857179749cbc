package engineapi

import (
	"context"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// inspection adds the routes of skald.Inspector. Searches and dry runs take a body as well: a prompt may be long.
func (h *Handler) inspection(mux *http.ServeMux) {
	handle(mux, "GET /engine/v1/status", h.status)
	handle(mux, "GET /engine/v1/sessions", h.sessions)
	handle(mux, "GET /engine/v1/turns", h.turns)
	mux.HandleFunc("GET /engine/v1/turns/raw", h.rawTurn)
	handle(mux, "GET /engine/v1/explain", h.explain)
	handle(mux, "GET /engine/v1/expand", h.expand)
	handle(mux, "GET /engine/v1/find", h.findQuery)
	handle(mux, "POST /engine/v1/find", h.findBody)
	handle(mux, "GET /engine/v1/ls", h.list)
	mux.HandleFunc("GET /engine/v1/read", h.read)
	handle(mux, "GET /engine/v1/verify", h.verify)
	handle(mux, "GET /engine/v1/context", h.contextQuery)
	handle(mux, "POST /engine/v1/context", h.contextBody)
	handle(mux, "POST /engine/v1/commit", h.commit)
	handle(mux, "GET /engine/v1/jobs", h.jobs)
	handle(mux, "POST /engine/v1/jobs/retry", h.changeJob(skald.Inspector.RetryJob))
	handle(mux, "POST /engine/v1/jobs/cancel", h.changeJob(skald.Inspector.CancelJob))
	handle(mux, "POST /engine/v1/sessions/delete", h.deleteSession)
	handle(mux, "POST /engine/v1/forget", h.forget)
}

func (h *Handler) status(r *http.Request, id skald.Identity) ([]byte, error) {
	return encode(h.Inspector.Status(r.Context(), id))
}

func (h *Handler) sessions(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	limit := q.Int("limit", 0, 0)
	if err := q.Err(); err != nil {
		return nil, err
	}
	list, err := h.Inspector.ListSessions(r.Context(), id, int(limit))
	return encode(wire.List(list), err)
}

func (h *Handler) turns(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	session, from, to := q.Required("session"), q.Int("from", 0, 0), q.Int("to", 0, 0)
	if err := q.Err(); err != nil {
		return nil, err
	}
	list, err := h.Inspector.ListTurns(r.Context(), id, session, from, to)
	return encode(wire.List(list), err)
}

// rawTurn answers with one turn's message as the host sent it: the bytes themselves, whatever they are.
func (h *Handler) rawTurn(w http.ResponseWriter, r *http.Request) {
	raw, err := h.rawBytes(r)
	if err != nil {
		wire.WriteError(w, r, err)
		return
	}
	writeBytes(w, "application/octet-stream", raw)
}

func (h *Handler) rawBytes(r *http.Request) ([]byte, error) {
	id, err := admit(r)
	if err != nil {
		return nil, err
	}
	q := wire.Query(r)
	session, seq := q.Required("session"), q.Int("seq", 0, 1)
	if err := q.Err(); err != nil {
		return nil, err
	}
	list, err := h.Inspector.ListTurns(r.Context(), id, session, seq, seq)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, skald.NotFound("http.turn", r.URL.RawQuery)
	case list[0].Purged:
		return nil, skald.E("http.turn", skald.KindNotFound, "the turn was purged")
	}
	return list[0].Raw, nil
}

func (h *Handler) explain(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	session, seq := q.Required("session"), q.Int("seq", 0, 0)
	if err := q.Err(); err != nil {
		return nil, err
	}
	x, err := h.Inspector.Explain(r.Context(), id, session, seq)
	if err != nil {
		return nil, err
	}
	return wire.Explanation(x)
}

func (h *Handler) expand(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	uri, limit := q.Required("uri"), q.Int("limit", 0, 0)
	if err := q.Err(); err != nil {
		return nil, err
	}
	return encode(h.Inspector.Expand(r.Context(), id, uri, q.Text("query"), int(limit)))
}

func (h *Handler) findQuery(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	f := skald.FindQuery{
		Query: q.Required("query"), Scope: q.Text("scope"), Limit: int(q.Int("limit", 0, 0)),
		Threshold: q.Float("threshold"), Session: q.Text("session"), Now: q.Int("now", 0, 0),
	}
	for _, k := range q.All("kinds") {
		f.Kinds = append(f.Kinds, skald.DocKind(k))
	}
	if err := q.Err(); err != nil {
		return nil, err
	}
	return encode(h.Inspector.Find(r.Context(), id, f))
}

func (h *Handler) findBody(r *http.Request, id skald.Identity) ([]byte, error) {
	var f skald.FindQuery
	if err := wire.Decode(r, &f); err != nil {
		return nil, err
	}
	return encode(h.Inspector.Find(r.Context(), id, f))
}

func (h *Handler) list(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	uri, depth := q.Text("uri"), q.Int("depth", 1, 0)
	if err := q.Err(); err != nil {
		return nil, err
	}
	if uri == "" {
		uri = string(skald.Root)
	}
	list, err := h.Inspector.List(r.Context(), id, uri, int(depth))
	return encode(wire.List(list), err)
}

// read answers with the text itself, so that a turn's bytes are not changed by encoding them.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) {
	text, err := h.readText(r)
	if err != nil {
		wire.WriteError(w, r, err)
		return
	}
	writeBytes(w, "text/plain; charset=utf-8", []byte(text))
}

func (h *Handler) readText(r *http.Request) (string, error) {
	id, err := admit(r)
	if err != nil {
		return "", err
	}
	q := wire.Query(r)
	uri := q.Required("uri")
	if err := q.Err(); err != nil {
		return "", err
	}
	return h.Inspector.Read(r.Context(), id, uri)
}

func (h *Handler) verify(r *http.Request, id skald.Identity) ([]byte, error) {
	return encode(h.Inspector.Verify(r.Context(), id, wire.Query(r).Text("session")))
}

func (h *Handler) contextQuery(r *http.Request, id skald.Identity) ([]byte, error) {
	q := wire.Query(r)
	c := wire.ContextQuery{Session: q.Text("session"), Prompt: q.Text("prompt"), Budget: int(q.Int("budget", 0, 0))}
	if err := q.Err(); err != nil {
		return nil, err
	}
	return h.dryAssemble(r, id, c)
}

func (h *Handler) contextBody(r *http.Request, id skald.Identity) ([]byte, error) {
	var c wire.ContextQuery
	if err := wire.Decode(r, &c); err != nil {
		return nil, err
	}
	return h.dryAssemble(r, id, c)
}

func (h *Handler) dryAssemble(r *http.Request, id skald.Identity, c wire.ContextQuery) ([]byte, error) {
	res, err := h.Inspector.DryAssemble(r.Context(), id, c.Session, c.Prompt, c.Budget)
	if err != nil {
		return nil, err
	}
	return wire.AssembleResult(res)
}

func (h *Handler) commit(r *http.Request, id skald.Identity) ([]byte, error) {
	var c wire.CommitQuery
	if err := wire.Decode(r, &c); err != nil {
		return nil, err
	}
	return encode(h.Inspector.Commit(r.Context(), id, c.Session, c.Wait))
}

func (h *Handler) jobs(r *http.Request, id skald.Identity) ([]byte, error) {
	list, err := h.Inspector.ListJobs(r.Context(), id, wire.Query(r).Text("all") == "true")
	return encode(wire.List(list), err)
}

// changeJob answers with the job as it is afterwards.
func (h *Handler) changeJob(change func(skald.Inspector, context.Context, skald.Identity, int64) (skald.JobInfo, error)) action {
	return func(r *http.Request, id skald.Identity) ([]byte, error) {
		var q wire.JobQuery
		if err := wire.Decode(r, &q); err != nil {
			return nil, err
		}
		if q.Job < 1 {
			return nil, skald.Invalid("http.jobs", "job", "is not the id of a job")
		}
		return encode(change(h.Inspector, r.Context(), id, q.Job))
	}
}

// deleteSession answers with what was deleted.
func (h *Handler) deleteSession(r *http.Request, id skald.Identity) ([]byte, error) {
	var q wire.DeleteQuery
	if err := wire.Decode(r, &q); err != nil {
		return nil, err
	}
	if q.Session == "" {
		return nil, skald.Invalid("http.sessions", "session", "is required")
	}
	return encode(h.Inspector.DeleteSession(r.Context(), id, q.Session))
}

// forget answers with the receipt.
func (h *Handler) forget(r *http.Request, id skald.Identity) ([]byte, error) {
	var q skald.ForgetRequest
	if err := wire.Decode(r, &q); err != nil {
		return nil, err
	}
	return encode(h.Inspector.ForgetSource(r.Context(), id, q))
}

func encode[T any](v T, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return wire.Encode(v)
}

func writeBytes(w http.ResponseWriter, contentType string, b []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// The caller is gone when this fails; there is nobody to tell.
	_, _ = w.Write(b)
}

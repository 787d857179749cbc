package client

import (
	"context"
	"net/url"
	"strconv"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// params builds query parameters; empty values and zeros are left out.
type params url.Values

func (p params) text(name, v string) params {
	if v != "" {
		url.Values(p).Set(name, v)
	}
	return p
}

func (p params) number(name string, v int64) params {
	if v != 0 {
		url.Values(p).Set(name, strconv.FormatInt(v, 10))
	}
	return p
}

// Status implements skald.Inspector.
func (c *Client) Status(ctx context.Context, id skald.Identity) (skald.Status, error) {
	return ask[skald.Status](ctx, c, "status", id, nil)
}

// ListSessions implements skald.Inspector.
func (c *Client) ListSessions(ctx context.Context, id skald.Identity, limit int) ([]skald.SessionInfo, error) {
	return ask[[]skald.SessionInfo](ctx, c, "sessions", id, params{}.number("limit", int64(limit)))
}

// ListTurns implements skald.Inspector.
func (c *Client) ListTurns(ctx context.Context, id skald.Identity, session string, from, to int64) ([]skald.TurnInfo, error) {
	return ask[[]skald.TurnInfo](ctx, c, "turns", id, params{}.text("session", session).number("from", from).number("to", to))
}

// Explain implements skald.Inspector.
func (c *Client) Explain(ctx context.Context, id skald.Identity, session string, seq int64) (skald.Explanation, error) {
	return ask[skald.Explanation](ctx, c, "explain", id, params{}.text("session", session).number("seq", seq))
}

// Expand implements skald.Inspector.
func (c *Client) Expand(ctx context.Context, id skald.Identity, uri, query string, limit int) (skald.Expansion, error) {
	return ask[skald.Expansion](ctx, c, "expand", id,
		params{}.text("uri", uri).text("query", query).number("limit", int64(limit)))
}

// Find implements skald.Inspector.
func (c *Client) Find(ctx context.Context, id skald.Identity, q skald.FindQuery) (skald.FindResult, error) {
	return exchange[skald.FindResult](ctx, c, "find", id, encoded(q))
}

// List implements skald.Inspector.
func (c *Client) List(ctx context.Context, id skald.Identity, uri string, depth int) ([]skald.FileInfo, error) {
	// depth 0 is said as well: absent means 1.
	q := params{"depth": {strconv.Itoa(depth)}}
	return ask[[]skald.FileInfo](ctx, c, "ls", id, q.text("uri", uri))
}

// Read implements skald.Inspector.
func (c *Client) Read(ctx context.Context, id skald.Identity, uri string) (string, error) {
	text, err := c.getBytes(ctx, "read", id, url.Values(params{}.text("uri", uri)))
	return string(text), err
}

// Verify implements skald.Inspector.
func (c *Client) Verify(ctx context.Context, id skald.Identity, session string) (skald.VerifyResult, error) {
	return ask[skald.VerifyResult](ctx, c, "verify", id, params{}.text("session", session))
}

// Commit implements skald.Inspector.
func (c *Client) Commit(ctx context.Context, id skald.Identity, session string, wait bool) (skald.CommitResult, error) {
	return exchange[skald.CommitResult](ctx, c, "commit", id, encoded(wire.CommitQuery{Session: session, Wait: wait}))
}

// Command answers a line that a person typed into a chat, as "why".
func (c *Client) Command(ctx context.Context, r wire.CommandRequest) (wire.CommandAnswer, error) {
	return exchange[wire.CommandAnswer](ctx, c, "command", r.Identity, encoded(r))
}

// ListJobs implements skald.Inspector.
func (c *Client) ListJobs(ctx context.Context, id skald.Identity, all bool) ([]skald.JobInfo, error) {
	q := params{}
	if all {
		q.text("all", "true")
	}
	return ask[[]skald.JobInfo](ctx, c, "jobs", id, q)
}

// RetryJob implements skald.Inspector.
func (c *Client) RetryJob(ctx context.Context, id skald.Identity, job int64) (skald.JobInfo, error) {
	return exchange[skald.JobInfo](ctx, c, "jobs/retry", id, encoded(wire.JobQuery{Job: job}))
}

// CancelJob implements skald.Inspector.
func (c *Client) CancelJob(ctx context.Context, id skald.Identity, job int64) (skald.JobInfo, error) {
	return exchange[skald.JobInfo](ctx, c, "jobs/cancel", id, encoded(wire.JobQuery{Job: job}))
}

// DeleteSession implements skald.Inspector.
func (c *Client) DeleteSession(ctx context.Context, id skald.Identity, session string) (skald.SessionDeletion, error) {
	return exchange[skald.SessionDeletion](ctx, c, "sessions/delete", id, encoded(wire.DeleteQuery{Session: session}))
}

// ForgetSource implements skald.Inspector.
func (c *Client) ForgetSource(ctx context.Context, id skald.Identity, r skald.ForgetRequest) (skald.ForgetReceipt, error) {
	return exchange[skald.ForgetReceipt](ctx, c, "forget", id, encoded(r))
}

// DryAssemble implements skald.Inspector.
func (c *Client) DryAssemble(ctx context.Context, id skald.Identity, session, prompt string, budget int) (skald.AssembleResult, error) {
	return exchange[skald.AssembleResult](ctx, c, "context", id,
		encoded(wire.ContextQuery{Session: session, Prompt: prompt, Budget: budget}))
}

// RawTurn is one turn's message as the host sent it: the bytes themselves, whatever they are.
func (c *Client) RawTurn(ctx context.Context, id skald.Identity, session string, seq int64) ([]byte, error) {
	return c.getBytes(ctx, "turns/raw", id, url.Values(params{}.text("session", session).number("seq", seq)))
}

func ask[Res any](ctx context.Context, c *Client, path string, id skald.Identity, q params) (Res, error) {
	var res Res
	err := c.get(ctx, path, id, url.Values(q), &res)
	return res, err
}

package client

import (
	"context"

	skald "github.com/skald-engine/skald"
)

// Bootstrap implements skald.Engine.
func (c *Client) Bootstrap(ctx context.Context, r skald.BootstrapRequest) (skald.BootstrapResult, error) {
	return exchange[skald.BootstrapResult](ctx, c, "bootstrap", r.Identity, encoded(r))
}

// Reconcile implements skald.Engine.
func (c *Client) Reconcile(ctx context.Context, r skald.ReconcileRequest) (skald.ReconcileResult, error) {
	return exchange[skald.ReconcileResult](ctx, c, "reconcile", r.Identity, func() ([]byte, error) { return reconcileBody(r) })
}

// CommitTurn implements skald.Engine.
func (c *Client) CommitTurn(ctx context.Context, r skald.CommitTurnRequest) (skald.CommitTurnResult, error) {
	return exchange[skald.CommitTurnResult](ctx, c, "commit_turn", r.Identity, func() ([]byte, error) { return commitTurnBody(r) })
}

// AfterTurn implements skald.Engine.
func (c *Client) AfterTurn(ctx context.Context, r skald.AfterTurnRequest) (skald.CommitTurnResult, error) {
	return exchange[skald.CommitTurnResult](ctx, c, "after_turn", r.Identity, func() ([]byte, error) { return afterTurnBody(r) })
}

// Ingest implements skald.Engine.
func (c *Client) Ingest(ctx context.Context, r skald.IngestRequest) (skald.CommitTurnResult, error) {
	return exchange[skald.CommitTurnResult](ctx, c, "ingest", r.Identity, func() ([]byte, error) { return ingestBody(r) })
}

// Assemble implements skald.Engine.
func (c *Client) Assemble(ctx context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
	return exchange[skald.AssembleResult](ctx, c, "assemble", r.Identity, func() ([]byte, error) { return assembleBody(r) })
}

// Compact implements skald.Engine.
func (c *Client) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	return exchange[skald.CompactResult](ctx, c, "compact", r.Identity, func() ([]byte, error) { return compactBody(r) })
}

// Tool implements skald.Engine.
func (c *Client) Tool(ctx context.Context, r skald.ToolRequest) (skald.ToolAnswer, error) {
	return exchange[skald.ToolAnswer](ctx, c, "tool", r.Identity, func() ([]byte, error) { return toolBody(r) })
}

// Event implements skald.Engine.
func (c *Client) Event(ctx context.Context, r skald.EventRequest) error {
	_, err := exchange[struct{}](ctx, c, "event", r.Identity, encoded(r))
	return err
}

// PrepareSubagent implements skald.Engine.
func (c *Client) PrepareSubagent(ctx context.Context, r skald.SubagentRequest) error {
	_, err := exchange[struct{}](ctx, c, "subagent_prepare", r.Identity, encoded(r))
	return err
}

// RollbackSubagent implements skald.Engine.
func (c *Client) RollbackSubagent(ctx context.Context, r skald.SubagentRequest) error {
	_, err := exchange[struct{}](ctx, c, "subagent_rollback", r.Identity, encoded(r))
	return err
}

// SubagentEnded implements skald.Engine.
func (c *Client) SubagentEnded(ctx context.Context, r skald.SubagentRequest) error {
	_, err := exchange[struct{}](ctx, c, "subagent_ended", r.Identity, encoded(r))
	return err
}

// exchange sends one lifecycle request and decodes its result.
func exchange[Res any](ctx context.Context, c *Client, path string, id skald.Identity, encode func() ([]byte, error)) (Res, error) {
	var res Res
	body, err := encode()
	if err != nil {
		return res, err
	}
	err = c.post(ctx, path, id, body, &res)
	return res, err
}

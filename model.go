package skald

import "context"

// Model is a generative model for background work. It is never called on the reply path (I7).
type Model interface {
	// Complete answers a prompt. Errors are KindUnavailable when a retry may help.
	Complete(ctx context.Context, system, prompt string, maxTokens int) (string, error)
	Name() string
}

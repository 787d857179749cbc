package skald

import "context"

// Embedder tells what texts mean: one vector each, of which only the direction counts. Texts that say similar things in other words get
// vectors that point the same way. It is safe for concurrent use.
type Embedder interface {
	// Name identifies the model: vectors of two names are never compared. It changes with whatever changes the vectors.
	Name() string
	// Local says that it answers at once and never fails: passages are then embedded as they are written.
	Local() bool
	// Passages embeds what is searched: one vector for each text, nil for one that means nothing to the model. KindUnavailable: a retry
	// may help.
	Passages(ctx context.Context, texts []string) ([][]int8, error)
	// Query embeds what is searched for.
	Query(ctx context.Context, text string) ([]int8, error)
}

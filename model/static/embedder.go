package static

import (
	"context"
	"fmt"
)

// Table is the table as a skald.Embedder.
type Table struct{}

// checksum is the CRC-32 of the table, and revision counts the changes of how texts are made into vectors of it: both are part of the name,
// so that vectors in existing stores are made anew when either changes.
const (
	checksum = 0xd85ba1e7
	revision = 1
)

// Name implements skald.Embedder.
func (Table) Name() string { return fmt.Sprintf("static-%d-%08x-%d", Dim, uint32(checksum), revision) }

// Local implements skald.Embedder.
func (Table) Local() bool { return true }

// Passages implements skald.Embedder.
func (Table) Passages(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i, text := range texts {
		out[i] = Embed(text)
	}
	return out, nil
}

// Query implements skald.Embedder.
func (Table) Query(_ context.Context, text string) ([]int8, error) { return Embed(text), nil }

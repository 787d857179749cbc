package memory

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
)

// save stores a memory and its index documents, in the place of older ones.
func save(tx skald.Tx, m skald.Memory) error {
	if err := tx.PutMemory(m); err != nil {
		return err
	}
	if err := tx.DeleteURIDocs(m.Scope, m.URI); err != nil {
		return err
	}
	return tx.PutDocs(index.DocsOfMemory(m))
}

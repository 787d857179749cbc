package archive

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
)

// Index puts the lines of an archive's overview into the lexical index, in the place of what was there.
func Index(tx skald.Tx, a skald.Archive, audience skald.Audience) error {
	if err := tx.DeleteArchiveDocs(a.Session, a.Index); err != nil {
		return err
	}
	return tx.PutDocs(index.DocsOfArchive(a, audience))
}

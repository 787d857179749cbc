package sqlite

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/skald-engine/skald"
)

// IndexBytes is how much of a closed store's file the index takes: passages, their terms and vectors.
func IndexBytes(ctx context.Context, dir string) (n int64, err error) {
	s := &Store{path: filepath.Join(dir, fileName), options: Options{ReadOnly: true, Logger: slog.New(slog.DiscardHandler)}}
	if err := s.open(ctx, dir); err != nil {
		return 0, err
	}
	defer s.Close()
	err = s.View(ctx, func(t skald.Tx) error {
		const query = `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND (name GLOB 'term*' OR name GLOB 'doc' OR name GLOB 'doc_*')`
		_, err := t.(*tx).row("index.bytes", query)(&n)
		return err
	})
	return n, err
}

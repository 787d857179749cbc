// Package sqlite keeps everything in one SQLite file, skald.db, without cgo. One connection writes and commits in groups (see
// writer.go), several read. A lock file keeps a second process out, so this process may remember what it has read (ids, document
// frequencies) without asking again.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/skald-engine/skald"
)

// Options changes how a store is opened. The zero value is right for a daemon.
type Options struct {
	// ReadOnly opens an existing store beside a process that writes it: no lock, no migration, Update fails.
	ReadOnly bool
	// NoSync leaves out every sync to disk: an acknowledged Update may be lost. For tests only.
	NoSync bool
	// Logger is told of what no caller can be told: a damaged read connection, a failed checkpoint. nil: nowhere.
	Logger *slog.Logger
	// Fault is called before each statement ("turn.insert"), and before "begin", "savepoint" and "commit"; its error takes the
	// place of the call. For tests: it is called by the goroutine that runs the transaction.
	Fault func(op string) error
}

// fileName is the database within the data folder.
const fileName = "skald.db"

// Store is a skald.Store in one SQLite file.
type Store struct {
	path     string
	options  Options
	lock     *lock
	writer   *writer
	readers  *readers
	ids      ids
	df       frequencies
	near     vectors
	schema   int
	unwell   atomic.Bool // the newest write failed for want of disk
	closing  sync.Once
	closeErr error
}

var _ skald.Store = (*Store)(nil)

// Open opens the store in dir and makes it when there is none (folder 0700, file 0600). It fails with KindUnavailable while
// another process holds the folder, with KindUnsupported when a newer Skald made the file, with KindInternal when the file is
// damaged.
func Open(ctx context.Context, dir string, options Options) (skald.Store, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{path: filepath.Join(dir, fileName), options: options}
	if err := s.open(ctx, dir); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, dir string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.options.ReadOnly {
		if _, err := os.Stat(s.path); err != nil {
			return skald.E("store.open", skald.KindNotFound, "no Skald data in %s: %w", dir, err)
		}
	} else if s.lock, err = prepareFolder(dir, s.path); err != nil {
		return err
	}
	c, err := connect(s.path, s.options)
	if err != nil {
		return failure("store.open", err)
	}
	if s.schema, err = migrate(ctx, c, s.path, s.options); err != nil {
		return errors.Join(err, c.close())
	}
	s.readers = newReaders(s.path, s.options)
	if s.options.ReadOnly {
		return c.close()
	}
	s.writer, err = startWriter(s, c)
	return err
}

// prepareFolder makes folder and file, which SQLite would make readable for everybody, and takes the lock.
func prepareFolder(dir, path string) (*lock, error) {
	const op = "store.open"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failure(op, err)
	}
	l, err := takeLock(filepath.Join(dir, "skald.lock"))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(failure(op, err), l.release())
	}
	return l, f.Close()
}

// View runs fn in a read transaction of its own connection; its snapshot is that of the call.
func (s *Store) View(ctx context.Context, fn func(skald.Tx) error) error {
	const op = "store.view"
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		return failure(op, err)
	}
	defer s.readers.give(c)
	if err := c.beginRead(); err != nil {
		return failure(op, err)
	}
	t := &tx{store: s, c: c, ctx: ctx, generation: s.df.generation.Load()}
	defer func() { t.done = true }()
	return fn(t)
}

// Update runs fn as part of the next group commit. See writer.go.
func (s *Store) Update(ctx context.Context, fn func(skald.Tx) error) error {
	if s.writer == nil {
		return skald.E("store.update", skald.KindInvalid, "the store is open for reading only")
	}
	return s.writer.update(ctx, fn)
}

// Health reads the counters and asks the file system for sizes.
func (s *Store) Health(ctx context.Context) (skald.StoreHealth, error) {
	h := skald.StoreHealth{Engine: "sqlite", Schema: s.schema, Path: s.path, Free: freeBytes(filepath.Dir(s.path)),
		Writing: s.writer != nil && !s.unwell.Load()}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.path + suffix); err == nil {
			h.Bytes += info.Size()
		}
	}
	err := s.View(ctx, func(t skald.Tx) error {
		_, err := t.(*tx).row("scope.sum", `SELECT coalesce(sum(turns), 0), coalesce(sum(docs), 0) FROM scope`)(&h.Turns, &h.Docs)
		return err
	})
	return h, err
}

// Close waits for the running transactions, closes the file and gives the lock back.
func (s *Store) Close() error {
	s.closing.Do(func() {
		var errs []error
		if s.readers != nil {
			errs = append(errs, s.readers.close())
		}
		if s.writer != nil {
			errs = append(errs, s.writer.close())
		}
		if s.lock != nil {
			errs = append(errs, s.lock.release())
		}
		if err := errors.Join(errs...); err != nil {
			s.closeErr = fmt.Errorf("store.close: %w", err)
		}
	})
	return s.closeErr
}

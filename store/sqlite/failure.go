package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	engine "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"github.com/skald-engine/skald"
)

// failure gives an error of SQLite or of the file system its kind, and says what to do about it. Errors that have a kind, and
// those of a context, stay as they are.
func failure(op string, err error) error {
	var known *skald.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind, advice := diagnose(err)
	if advice == "" {
		return &skald.Error{Op: op, Kind: kind, Err: err}
	}
	return &skald.Error{Op: op, Kind: kind, Err: fmt.Errorf("%w: %s", err, advice)}
}

func diagnose(err error) (kind skald.Kind, advice string) {
	var e *engine.Error
	if !errors.As(err, &e) {
		switch {
		case errors.Is(err, syscall.ENOSPC):
			return skald.KindUnavailable, adviceFull
		case errors.Is(err, fs.ErrPermission):
			return skald.KindUnavailable, "the data folder must belong to the user that runs Skald"
		}
		return skald.KindUnavailable, ""
	}
	switch e.Code() & 0xff {
	case code.SQLITE_FULL:
		return skald.KindUnavailable, adviceFull
	case code.SQLITE_IOERR:
		return skald.KindUnavailable, "the disk of the data folder reports an error or is full; reading goes on where it can"
	case code.SQLITE_CANTOPEN, code.SQLITE_READONLY, code.SQLITE_PERM:
		return skald.KindUnavailable, "the data folder cannot be written; check its owner and permissions"
	case code.SQLITE_BUSY, code.SQLITE_LOCKED:
		return skald.KindUnavailable, "another program holds the database; close it"
	case code.SQLITE_NOMEM:
		return skald.KindUnavailable, "out of memory"
	case code.SQLITE_CORRUPT, code.SQLITE_NOTADB, code.SQLITE_FORMAT:
		return skald.KindInternal, "the data file is damaged; restore " + fileName + " from a backup, or move it away to start anew"
	}
	return skald.KindInternal, ""
}

const adviceFull = "the disk of the data folder is full; free some space, nothing that was acknowledged is lost"

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/skald-engine/skald"
)

// lock keeps a second process out of the data folder. The operating system drops it when the process ends, however it ends; the
// file itself stays and names the holder.
type lock struct{ file *os.File }

var errHeld = errors.New("held")

func takeLock(path string) (*lock, error) {
	const op = "store.open"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, failure(op, err)
	}
	if err := lockFile(f); err != nil {
		err = lockError(op, path, err)
		return nil, errors.Join(err, f.Close())
	}
	l := &lock{f}
	if err := l.sign(); err != nil {
		return nil, errors.Join(failure(op, err), l.release())
	}
	return l, nil
}

// sign writes the pid, for the message that the second process shows.
func (l *lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func (l *lock) release() error { return l.file.Close() }

func lockError(op, path string, err error) error {
	if !errors.Is(err, errHeld) {
		return failure(op, fmt.Errorf("cannot lock %s: %w", path, err))
	}
	pid := "unknown"
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
		pid = strings.TrimSpace(string(b))
	}
	return skald.E(op, skald.KindUnavailable,
		"another Skald process (pid %s) holds the data folder; talk to it with --server, or stop it first", pid)
}

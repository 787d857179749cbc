//go:build !windows

package openclaw

import (
	"fmt"
	"os"
	"syscall"
)

// keepOwner gives a file that is to replace another one that one's owner: root, under sudo, must not take the configuration from its user.
func keepOwner(f *os.File, path string) error {
	was, err := os.Stat(path)
	if err != nil {
		return nil // there is none yet
	}
	is, err := f.Stat()
	if err != nil {
		return err
	}
	old, okOld := was.Sys().(*syscall.Stat_t)
	now, okNow := is.Sys().(*syscall.Stat_t)
	if !okOld || !okNow || old.Uid == now.Uid && old.Gid == now.Gid {
		return nil
	}
	err = f.Chown(int(old.Uid), int(old.Gid))
	if err != nil && old.Uid == now.Uid {
		return nil // the same person, in another of their groups
	}
	if err != nil {
		return fmt.Errorf("%s belongs to another user (%d), and would not any more: run this as that user: %w", path, old.Uid, err)
	}
	return nil
}

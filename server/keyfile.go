package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	skald "github.com/skald-engine/skald"
)

// keyFile is the name of the key's file in the data folder.
const keyFile = "key"

// minKeyLength keeps a truncated or made-up key file from standing in for a secret.
const minKeyLength = 32

// KeyPath is where the daemon's key lies.
func KeyPath(data string) string { return filepath.Join(data, keyFile) }

// ReadKey reads the daemon's key, for the CLI and the adapter.
func ReadKey(data string) (string, error) {
	path := KeyPath(data)
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if len(key) < minKeyLength {
		return "", skald.Invalid("server.key", path, "holds no key: delete it, and the next start makes a new one")
	}
	return key, nil
}

// EnsureKey reads the daemon's key and makes it at the first start: 32 random bytes as hex, folder 0700, file 0600. Two daemons
// that start at once agree on one key.
func EnsureKey(data string) (string, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	path := KeyPath(data)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(data, path); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return "", fmt.Errorf("close the key file to others: %w", err)
	}
	return ReadKey(data)
}

// makeKey writes a whole file beside the path and links it there: a reader never sees half a key, and the first one wins.
func makeKey(data, path string) error {
	f, err := os.CreateTemp(data, ".key-*") // 0600
	if err != nil {
		return fmt.Errorf("make the key: %w", err)
	}
	defer os.Remove(f.Name())
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	_, err = f.WriteString(hex.EncodeToString(secret) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("put the key in place: %w", err)
	}
	return nil
}

// Package setup is the work behind `skald init`: the configuration file, the data folder, a model endpoint, and what else is installed
// here. It asks nothing; the command does.
package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// File is a configuration file as it stands, with keys that this version does not know.
type File struct {
	Path    string
	Changes []Change

	values map[string]any
	fresh  bool // there is no file yet
}

// Change is one key that gets another value. Was is nil where the key was not set.
type Change struct {
	Key string `json:"key"` // with dots: identity.user
	Was any    `json:"was"`
	Is  any    `json:"is"`
}

// ReadFile reads a configuration file; a missing one is empty.
func ReadFile(path string) (*File, error) {
	f := &File{Path: path, values: map[string]any{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		f.fresh = true
		return f, nil
	}
	if err != nil {
		return nil, skald.Invalid("", "config", "%w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&f.values); err != nil {
		return nil, skald.Invalid("", "config", "%s is not a JSON object: %w", path, err)
	}
	return f, nil
}

// Set gives a key a value, and notes the change when there is one.
func (f *File) Set(key string, value any) {
	at := f.values
	parts := strings.Split(key, ".")
	for _, p := range parts[:len(parts)-1] {
		next, ok := at[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[p] = next
		}
		at = next
	}
	last := parts[len(parts)-1]
	if was, ok := at[last]; !ok || !reflect.DeepEqual(was, value) {
		f.Changes = append(f.Changes, Change{key, was, value})
		at[last] = value
	}
}

// Overwrites lists the changes that replace a value that somebody set.
func (f *File) Overwrites() (list []Change) {
	for _, c := range f.Changes {
		if c.Was != nil {
			list = append(list, c)
		}
	}
	return list
}

// Write puts the file in place as a whole, readable by its owner only, its folder too when it is made. Without changes nothing is
// written.
func (f *File) Write() error {
	if len(f.Changes) == 0 && !f.fresh {
		return nil
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f.values); err != nil {
		return err
	}
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	t, err := os.CreateTemp(dir, ".config-*") // 0600
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer os.Remove(t.Name())
	_, err = t.Write(body.Bytes())
	if err = errors.Join(err, t.Sync(), t.Close()); err == nil {
		err = os.Rename(t.Name(), f.Path)
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// Changed reports whether a key, or one below it, gets another value.
func (f *File) Changed(key string) bool {
	return slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Key == key || strings.HasPrefix(c.Key, key+".") })
}

// Has reports whether the file sets a key of its top level.
func (f *File) Has(key string) bool { _, ok := f.values[key]; return ok }

// Sort orders the changes by key.
func (f *File) Sort() {
	slices.SortFunc(f.Changes, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
}

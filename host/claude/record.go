package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// record is what an installation leaves in Skald's data folder: what it changed, and where the bytes from before are.
type record struct {
	Installed time.Time `json:"installed"`
	Location  Location  `json:"location"`
	Command   Command   `json:"command"`
	Files     []kept    `json:"files"`
}

// kept is one changed file.
type kept struct {
	Path   string `json:"path"`
	Backup string `json:"backup,omitempty"` // name within the record's folder; "" when there was no file
	Before string `json:"before,omitempty"` // SHA-256
	After  string `json:"after"`            // SHA-256
}

const recordName = "record.json"

// readRecord is the record in a folder, empty when there is none.
func readRecord(folder string) (r record) {
	b, err := os.ReadFile(filepath.Join(folder, recordName))
	if err == nil {
		_ = json.Unmarshal(b, &r) // one that cannot be read knows of no file: what is ours is recognised all the same
	}
	return r
}

func (r record) of(path string) (kept, bool) {
	for _, f := range r.Files {
		if f.Path == path {
			return f, true
		}
	}
	return kept{}, false
}

// backup is the file from before, nil when there was none. It fails when the backup is not what it was.
func (k kept) backup(folder string) ([]byte, error) {
	if k.Backup == "" {
		return nil, nil
	}
	b, err := os.ReadFile(filepath.Join(folder, k.Backup))
	if err == nil && sum(b) != k.Before {
		err = fmt.Errorf("%s was changed", k.Backup)
	}
	return b, err
}

// write keeps the backups first and the record last, so that a record never names a backup that is not there.
func (r record) write(folder string, changes []Change) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, c := range changes {
		k := kept{Path: c.Path, Before: sum(c.original), After: sum(c.After)}
		if c.original != nil {
			k.Backup = filepath.Base(c.Path) + "." + k.Before[:12]
			if err := replace(filepath.Join(folder, k.Backup), c.original, 0o600); err != nil {
				return err
			}
		}
		r.put(k)
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(folder, recordName), append(b, '\n'), 0o600)
}

func (r *record) put(k kept) {
	for i := range r.Files {
		if r.Files[i].Path == k.Path {
			r.Files[i] = k
			return
		}
	}
	r.Files = append(r.Files, k)
}

func names(list []string) string { return strings.Join(list, ", ") }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Package pack writes and reads OpenViking's packs (.ovpack): a zip file with the files of a folder, a manifest of their sizes and hashes,
// and the records of the index. It knows nothing of stores.
//
//	<root>/files/**                      the files, with the texts of folders as .abstract.md and .overview.md
//	<root>/_ovpack/manifest.json         format_version 3
//	<root>/_ovpack/index_records.jsonl   one record a line: for readers that keep vectors
package pack

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/skald-engine/skald"
)

const (
	kind    = "openviking.ovpack"
	version = 3
	// BackupName is the root of a pack of a whole account.
	BackupName = "openviking-backup"
	backupType = "backup"
)

// Root is what was packed.
type Root struct {
	Name  string    `json:"name"`
	Scope string    `json:"scope"` // resources, user, agent; root of a backup
	URI   skald.URI `json:"uri"`
	Type  string    `json:"package_type,omitempty"`
}

// Backup is the root of a pack of a whole account.
func Backup() Root { return Root{Name: BackupName, Scope: "root", URI: skald.Root, Type: backupType} }

// Whole reports the pack of a whole account.
func (r Root) Whole() bool { return r.Type == backupType }

type manifest struct {
	Content string   `json:"content_sha256"`
	Entries []entry  `json:"entries"`
	Version int      `json:"format_version"`
	Index   *records `json:"index,omitempty"`
	Kind    string   `json:"kind"`
	Root    Root     `json:"root"`
	Scopes  []string `json:"scopes,omitempty"`
}

type entry struct {
	Kind string `json:"kind"` // file, directory
	Path string `json:"path"`
	Hash string `json:"sha256,omitempty"`
	Size int64  `json:"size"`
}

type records struct {
	Records struct {
		Count int    `json:"count"`
		Path  string `json:"path"`
		Hash  string `json:"sha256"`
	} `json:"records"`
}

// contentHash is the hash over the list of files: in order of path, as compact JSON without escapes.
func contentHash(list []entry) (string, error) {
	type file struct {
		Path string `json:"path"`
		Hash string `json:"sha256"`
		Size int64  `json:"size"`
	}
	files := []file{}
	for _, e := range list {
		if e.Kind == "file" {
			files = append(files, file{e.Path, e.Hash, e.Size})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(files); err != nil {
		return "", err
	}
	text := bytes.TrimRight(b.Bytes(), "\n")
	text = bytes.ReplaceAll(text, []byte(`\u2028`), []byte("\u2028"))
	text = bytes.ReplaceAll(text, []byte(`\u2029`), []byte("\u2029"))
	return hash(text), nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

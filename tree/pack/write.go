package pack

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Record is what a pack says of an indexed text.
type Record struct {
	Kind    string  `json:"kind"`  // file, directory
	Level   int     `json:"level"` // 0 abstract, 1 overview, 2 content
	Path    string  `json:"path"`
	ID      string  `json:"record_id"`
	Scalars Scalars `json:"scalars"`
	Text    string  `json:"text"`
}

// Scalars are the fields of a record.
type Scalars struct {
	Abstract    string `json:"abstract"`
	Type        string `json:"context_type"` // memory, resource, skill
	Description string `json:"description"`
	Level       int    `json:"level"`
	Name        string `json:"name"`
	Tags        string `json:"tags"` // "k=v;k=v"
}

// Writer writes a pack. Paths are relative to the root, without a leading slash; a folder comes before what is in it.
type Writer struct {
	zip     *zip.Writer
	m       manifest
	records bytes.Buffer
	count   int
}

// NewWriter begins a pack.
func NewWriter(w io.Writer, root Root) (*Writer, error) {
	p := &Writer{zip: zip.NewWriter(w), m: manifest{Version: version, Kind: kind, Root: root, Entries: []entry{{Kind: "directory"}}}}
	for _, dir := range []string{"", "files/"} {
		if err := p.folder(dir); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Writer) folder(name string) error {
	_, err := p.zip.Create(p.m.Root.Name + "/" + name)
	return err
}

// Dir adds a folder.
func (p *Writer) Dir(path string) error {
	p.m.Entries = append(p.m.Entries, entry{Kind: "directory", Path: path})
	return p.folder("files/" + path + "/")
}

// File adds a file.
func (p *Writer) File(path string, body []byte) error {
	p.m.Entries = append(p.m.Entries, entry{Kind: "file", Path: path, Hash: hash(body), Size: int64(len(body))})
	return p.member("files/"+path, body)
}

func (p *Writer) member(name string, body []byte) error {
	w, err := p.zip.Create(p.m.Root.Name + "/" + name)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// Record adds a record of the index.
func (p *Writer) Record(r Record) error {
	p.count++
	r.ID = fmt.Sprintf("r%06d", p.count)
	r.Scalars.Level = r.Level
	enc := json.NewEncoder(&p.records)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Close writes the records and the manifest.
func (p *Writer) Close() (err error) {
	if p.m.Content, err = contentHash(p.m.Entries); err != nil {
		return err
	}
	p.m.Index = &records{}
	p.m.Index.Records.Count, p.m.Index.Records.Path = p.count, "_ovpack/index_records.jsonl"
	p.m.Index.Records.Hash = hash(p.records.Bytes())
	if p.m.Root.Whole() {
		p.m.Scopes = scopes(p.m.Entries)
	}
	text, err := json.MarshalIndent(p.m, "", "  ")
	if err != nil {
		return err
	}
	if err := p.folder("_ovpack/"); err != nil {
		return err
	}
	if err := p.member("_ovpack/index_records.jsonl", p.records.Bytes()); err != nil {
		return err
	}
	if err := p.member("_ovpack/manifest.json", text); err != nil {
		return err
	}
	return p.zip.Close()
}

// scopes are the first names of the paths.
func scopes(list []entry) []string {
	var out []string
	for _, e := range list {
		if name, _, _ := strings.Cut(e.Path, "/"); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

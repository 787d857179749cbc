package memory

import (
	"encoding/json"
	"slices"

	"github.com/skald-engine/skald"
)

// Diff says what an extraction changed (memory_diff.json).
type Diff struct {
	Archive    skald.URI    `json:"archive,omitempty"`
	Added      []Change     `json:"added"`
	Updated    []Change     `json:"updated"`
	Superseded []Superseded `json:"superseded"`
	Skipped    int          `json:"skipped"` // statements that were stored already
}

// Change is a memory that was added or got a new text.
type Change struct {
	URI  skald.URI `json:"uri"`
	Text string    `json:"text"`
}

// Superseded is a memory that another one replaced.
type Superseded struct {
	URI skald.URI `json:"uri"`
	By  skald.URI `json:"by"`
}

// JSON is the content of memory_diff.json.
func (d Diff) JSON() ([]byte, error) {
	if d.Added == nil {
		d.Added = []Change{}
	}
	if d.Updated == nil {
		d.Updated = []Change{}
	}
	if d.Superseded == nil {
		d.Superseded = []Superseded{}
	}
	return json.Marshal(d)
}

// URIs lists the memories that were added or changed, each once.
func (d Diff) URIs() []skald.URI {
	var out []skald.URI
	for _, list := range [][]Change{d.Added, d.Updated} {
		for _, c := range list {
			if !slices.Contains(out, c.URI) {
				out = append(out, c.URI)
			}
		}
	}
	return out
}

// without removes what the diff says of some memories.
func (d Diff) without(gone map[skald.URI]bool) Diff {
	drop := func(c Change) bool { return gone[c.URI] }
	d.Added = slices.DeleteFunc(d.Added, drop)
	d.Updated = slices.DeleteFunc(d.Updated, drop)
	d.Superseded = slices.DeleteFunc(d.Superseded, func(s Superseded) bool { return gone[s.URI] || gone[s.By] })
	return d
}

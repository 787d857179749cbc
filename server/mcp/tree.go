package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skald-engine/skald"
)

type searchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"`
	Scope string `json:"scope,omitempty"`
	Kind  string `json:"kind,omitempty"`
}

type hit struct {
	URI   skald.URI     `json:"uri"`
	Kind  skald.DocKind `json:"kind"`
	Score float64       `json:"score"`
	Time  string        `json:"time,omitempty"`
	Text  string        `json:"text"`
}

type hits struct {
	Hits []hit `json:"hits"`
}

func (c caller) search(ctx context.Context, in searchArgs) (string, hits, error) {
	out := hits{Hits: []hit{}}
	if strings.TrimSpace(in.Query) == "" {
		return "", out, skald.Invalid("memory_search", "query", "say what to look for")
	}
	q := skald.FindQuery{Query: in.Query, Scope: in.Scope, Limit: in.Limit}
	if in.Kind != "" {
		q.Kinds = []skald.DocKind{skald.DocKind(in.Kind)}
	}
	found, err := c.inspector.Find(ctx, c.id, q)
	var text strings.Builder
	for _, h := range found.Hits {
		out.Hits = append(out.Hits, hit{URI: h.URI, Kind: h.Kind, Score: h.Score, Time: stamp(h.Time), Text: h.Text})
		fmt.Fprintf(&text, "%.3f %s %s %s\n  %s\n", h.Score, h.Kind, stamp(h.Time), h.URI, oneLine(h.Text))
	}
	return cmp.Or(text.String(), "nothing found"), out, err
}

type listArgs struct {
	URI   string `json:"uri,omitempty"`
	Depth int    `json:"depth,omitempty"`
}

type entry struct {
	URI      skald.URI `json:"uri"`
	Folder   bool      `json:"folder"`
	Size     int64     `json:"size"` // bytes; 0 for folders
	Modified string    `json:"modified,omitempty"`
	Abstract string    `json:"abstract,omitempty"`
}

type entries struct {
	Entries []entry `json:"entries"`
}

func (c caller) list(ctx context.Context, in listArgs) (string, entries, error) {
	out := entries{Entries: []entry{}}
	files, err := c.inspector.List(ctx, c.id, cmp.Or(in.URI, string(skald.Root)), max(1, in.Depth))
	var text strings.Builder
	for _, f := range files {
		out.Entries = append(out.Entries, entry{URI: f.URI, Folder: f.Dir, Size: f.Size, Modified: stamp(f.Modified), Abstract: f.Abstract})
		text.WriteString(string(f.URI))
		if f.Dir {
			text.WriteByte('/')
		}
		if f.Abstract != "" {
			text.WriteString("  " + oneLine(f.Abstract))
		}
		text.WriteByte('\n')
	}
	return cmp.Or(text.String(), "empty"), out, err
}

type readArgs struct {
	URI    string `json:"uri"`
	Offset int    `json:"offset,omitempty"`
}

type content struct {
	URI  string `json:"uri"`
	Text string `json:"text"`
	Size int    `json:"size"`                  // characters of the whole
	Next int    `json:"next_offset,omitempty"` // where to go on; 0 at the end
}

// readChars is the most that one memory_read answers with, in characters: about 5,000 tokens.
const readChars = 20_000

func (c caller) read(ctx context.Context, in readArgs) (string, content, error) {
	whole, err := c.inspector.Read(ctx, c.id, in.URI)
	if err != nil {
		return "", content{}, err
	}
	out := content{URI: in.URI}
	out.Text, out.Size, out.Next = part(whole, in.Offset, readChars)
	text := out.Text
	if out.Next > 0 {
		text += fmt.Sprintf("\n[%d of %d characters; go on with offset %d, or let memory_expand with a query pick]", out.Next, out.Size, out.Next)
	}
	return text, out, nil
}

// part cuts the characters from offset on, limit at most. Stored bytes need not be UTF-8.
func part(whole string, offset, limit int) (text string, size, next int) {
	whole = strings.ToValidUTF8(whole, string(utf8.RuneError))
	runes := []rune(whole)
	from := min(offset, len(runes))
	to := min(from+limit, len(runes))
	if to < len(runes) {
		next = to
	}
	return string(runes[from:to]), len(runes), next
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

package memory

import (
	"encoding/json"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
)

// Erase takes out of memories, overviews and diffs of the scopes every line that quotes what is purged, whatever its sources say.
func Erase(tx skald.Tx, scopes []skald.Scope, sessions []skald.Session, quotes func(string) bool) (gone []skald.URI, err error) {
	list, err := tx.Memories(skald.MemoryQuery{Scopes: scopes})
	f := &forgetting{tx: tx, scopes: scopes}
	for _, m := range list {
		if err != nil {
			return nil, err
		}
		if quotes(m.Text) {
			err = f.without(m, quotes)
		}
	}
	for _, s := range sessions {
		archives, missing := tx.Archives(s.Ref, 1)
		if err == nil {
			err = missing
		}
		for _, a := range archives {
			if err == nil {
				err = eraseArchive(tx, s, a, quotes)
			}
		}
	}
	return f.receipt.Memories, err
}

// without rewrites a memory without the lines that are purged, or deletes it.
func (f *forgetting) without(m skald.Memory, quotes func(string) bool) error {
	lines := slices.DeleteFunc(parseBody(m.Text), func(l line) bool { return quotes(l.text) })
	if m.Text = body(lines); len(lines) == 0 || quotes(m.Text) {
		return f.memory(m)
	}
	return save(f.tx, m)
}

func eraseArchive(tx skald.Tx, s skald.Session, a skald.Archive, quotes func(string) bool) error {
	dropped := quotes(a.Abstract)
	var kept []skald.Section
	for _, section := range a.Overview {
		lines := slices.DeleteFunc(slices.Clone(section.Lines), func(l skald.Line) bool { return quotes(l.Text) })
		dropped = dropped || len(lines) < len(section.Lines)
		if len(lines) > 0 {
			kept = append(kept, skald.Section{Title: section.Title, Lines: lines})
		}
	}
	if !dropped && !quotes(a.Diff) {
		return nil
	}
	if dropped {
		archive.Shorten(&a, kept)
	}
	a.Diff = eraseDiff(a.Diff, quotes)
	if err := tx.PutArchive(a); err != nil {
		return err
	}
	return archive.Index(tx, a, s.Audience)
}

// eraseDiff empties the texts of a diff that are purged; which memory changed stays told.
func eraseDiff(raw string, quotes func(string) bool) string {
	var d Diff
	if raw == "" || json.Unmarshal([]byte(raw), &d) != nil {
		return ""
	}
	for _, list := range [][]Change{d.Added, d.Updated} {
		for i := range list {
			if quotes(list[i].Text) {
				list[i].Text = ""
			}
		}
	}
	out, err := d.JSON()
	if err != nil {
		return ""
	}
	return string(out)
}

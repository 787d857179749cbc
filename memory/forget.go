package memory

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/archive/sentence"
)

// Receipt says what a forgetting removed.
type Receipt struct {
	URI      skald.URI            `json:"uri"`
	Memories []skald.URI          `json:"memories"` // deleted: the named one, and others that have no other source
	Turns    []skald.MemorySource `json:"turns"`    // marked forgotten: out of recall, search and summaries, readable by URI
	Archives []skald.URI          `json:"archives"` // whose overviews lost lines
	// Sessions are those whose head message may quote what was forgotten: the engine renders it anew.
	Sessions []skald.SessionRef `json:"sessions"`
}

// Forget takes a memory and the turns behind it out of recall, search, profile and summaries within the caller's transaction, for
// good: the turns are marked, so that a repeated extraction or summary leaves them out. With them go the agent's answers of the same
// exchange that repeat the statement, memories and profile lines that rest on these turns alone, overview lines that cite only
// them, and what memory_diff.json tells of them. KindNotFound when no scope has the memory.
func Forget(tx skald.Tx, scopes []skald.Scope, uri skald.URI) (Receipt, error) {
	m, err := find(tx, scopes, uri)
	if err != nil {
		return Receipt{}, err
	}
	f := &forgetting{tx: tx, scopes: scopes, receipt: Receipt{URI: uri}, texts: map[skald.SessionRef][]string{}}
	if err := f.memory(m); err != nil {
		return f.receipt, err
	}
	for _, s := range m.Readable() {
		if err := f.turns(s, m); err != nil {
			return f.receipt, err
		}
	}
	return f.rest()
}

// ForgetTurns does the same from the turns From to To of a session: they, and what was made of them alone, are forgotten.
func ForgetTurns(tx skald.Tx, scopes []skald.Scope, s skald.MemorySource) (Receipt, error) {
	f := &forgetting{tx: tx, scopes: scopes, texts: map[skald.SessionRef][]string{},
		receipt: Receipt{URI: s.Session.TurnsURI(s.From, s.To), Sessions: []skald.SessionRef{s.Session}}}
	stored, err := tx.Turns(s.Session, skald.TurnQuery{From: s.From, To: s.To})
	if err != nil {
		return f.receipt, err
	}
	for _, t := range stored {
		if err := f.turn(s.Session, t, turnText(t)); err != nil {
			return f.receipt, err
		}
	}
	return f.rest()
}

// rest takes what was made of the turns that are forgotten now.
func (f *forgetting) rest() (Receipt, error) {
	for _, ref := range f.receipt.Sessions {
		if err := f.memories(ref); err != nil {
			return f.receipt, err
		}
	}
	for _, ref := range f.receipt.Sessions {
		if err := f.archives(ref); err != nil {
			return f.receipt, err
		}
	}
	return f.receipt, nil
}

type forgetting struct {
	tx      skald.Tx
	scopes  []skald.Scope
	receipt Receipt
	texts   map[skald.SessionRef][]string // normal texts of the turns that are forgotten now
}

func find(tx skald.Tx, scopes []skald.Scope, uri skald.URI) (skald.Memory, error) {
	for _, s := range scopes {
		m, err := tx.Memory(s, uri)
		if err == nil || skald.KindOf(err) != skald.KindNotFound {
			return m, err
		}
	}
	return skald.Memory{}, skald.NotFound("memory.forget", string(uri))
}

// memory deletes one with its documents.
func (f *forgetting) memory(m skald.Memory) error {
	f.receipt.Memories = append(f.receipt.Memories, m.URI)
	if err := f.tx.DeleteURIDocs(m.Scope, m.URI); err != nil {
		return err
	}
	return f.tx.DeleteMemory(m.Scope, m.URI)
}

// turns marks the turns of a source, and the answers in its exchange that repeat what was said.
func (f *forgetting) turns(s skald.MemorySource, m skald.Memory) error {
	if !slices.Contains(f.receipt.Sessions, s.Session) {
		f.receipt.Sessions = append(f.receipt.Sessions, s.Session)
	}
	stored, err := f.tx.Turns(s.Session, skald.TurnQuery{From: s.From, To: s.To + 12})
	if err != nil {
		return err
	}
	statement := weigh(quotes(m))
	for _, t := range stored {
		text := turnText(t)
		if t.Seq > s.To {
			if t.Role == skald.RoleUser {
				break
			}
			if sentence.Overlap(statement, weigh(text)) < 0.45 {
				continue
			}
		}
		if err := f.turn(s.Session, t, text); err != nil {
			return err
		}
	}
	return nil
}

func (f *forgetting) turn(ref skald.SessionRef, t skald.Turn, text string) error {
	f.texts[ref] = append(f.texts[ref], normal(text))
	f.receipt.Turns = append(f.receipt.Turns, skald.MemorySource{Session: ref, From: t.Seq, To: t.Seq})
	if !t.Forgotten {
		t.Forgotten = true
		if err := f.tx.UpdateTurn(ref, t); err != nil {
			return err
		}
	}
	return f.tx.DeleteTurnDocs(ref, t.Seq, t.Seq)
}

// memories deletes other memories that rest on forgotten turns alone, and lines of those that have other sources too.
func (f *forgetting) memories(ref skald.SessionRef) error {
	for _, s := range slices.Clone(f.receipt.Turns) {
		if s.Session != ref {
			continue
		}
		found, err := f.tx.Memories(skald.MemoryQuery{Scopes: f.scopes, Source: &s.Session, From: s.From, To: s.To})
		if err != nil {
			return err
		}
		for _, m := range found {
			if err := f.trim(ref, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// trim removes from a memory the forgotten sources and their lines; what has none left is deleted.
func (f *forgetting) trim(ref skald.SessionRef, m skald.Memory) error {
	m.Sources = slices.DeleteFunc(slices.Clone(m.Sources), func(s skald.MemorySource) bool { return f.covers(s) })
	lines := slices.DeleteFunc(parseBody(m.Text), func(l line) bool { return f.quoted(ref, l.text) })
	if len(m.Sources) == 0 || len(lines) == 0 {
		return f.memory(m)
	}
	m.Text = body(lines)
	return save(f.tx, m)
}

// covers reports whether all turns of a source are forgotten now.
func (f *forgetting) covers(s skald.MemorySource) bool {
	for seq := s.From; seq <= s.To; seq++ {
		if !slices.Contains(f.receipt.Turns, skald.MemorySource{Session: s.Session, From: seq, To: seq}) {
			return false
		}
	}
	return true
}

// archives removes overview lines, abstracts and diff entries of what is forgotten.
func (f *forgetting) archives(ref skald.SessionRef) error {
	all, err := f.tx.Archives(ref, 1)
	if err != nil {
		return err
	}
	for _, a := range all {
		gone, err := f.gone(ref, a)
		if err != nil {
			return err
		}
		if err := f.archive(a, gone); err != nil {
			return err
		}
	}
	return nil
}

// gone lists the forgotten sequences that an archive's lines may cite.
func (f *forgetting) gone(ref skald.SessionRef, a skald.Archive) (map[int64]bool, error) {
	turns, err := f.tx.Turns(ref, skald.TurnQuery{From: a.From, To: a.To, NoRaw: true})
	if err != nil {
		return nil, err
	}
	gone := map[int64]bool{}
	for _, t := range turns {
		if t.Forgotten {
			gone[t.Seq] = true
		}
	}
	return gone, nil
}

func (f *forgetting) archive(a skald.Archive, gone map[int64]bool) error {
	kept, dropped := archive.Without(a.Overview, gone)
	kept, quoted := f.withoutQuotes(a.Session, kept)
	dropped = dropped || quoted
	deleted := map[skald.URI]bool{}
	for _, u := range f.receipt.Memories {
		deleted[u] = true
	}
	had := len(a.Memories)
	a.Memories = slices.DeleteFunc(slices.Clone(a.Memories), func(u skald.URI) bool { return deleted[u] })
	if !dropped && len(a.Memories) == had {
		return nil
	}
	f.receipt.Archives = append(f.receipt.Archives, a.Session.ArchiveURI(a.Index))
	a.Diff = cleanDiff(a.Diff, deleted)
	if dropped {
		archive.Shorten(&a, kept)
	}
	if err := f.tx.PutArchive(a); err != nil {
		return err
	}
	if err := f.tx.PutCheckpoint(a.Session, archive.Checkpoint(a)); err != nil {
		return err
	}
	s, err := f.tx.Session(a.Session)
	if err != nil {
		return err
	}
	return archive.Index(f.tx, a, s.Audience)
}

// withoutQuotes drops lines that quote a forgotten turn from elsewhere: a later archive repeats a line when its status changes.
func (f *forgetting) withoutQuotes(ref skald.SessionRef, sections []skald.Section) (kept []skald.Section, dropped bool) {
	for _, s := range sections {
		lines := slices.DeleteFunc(slices.Clone(s.Lines), func(l skald.Line) bool {
			return len(l.Text) > 12 && f.quoted(ref, l.Text)
		})
		dropped = dropped || len(lines) < len(s.Lines)
		if len(lines) > 0 {
			kept = append(kept, skald.Section{Title: s.Title, Lines: lines})
		}
	}
	return kept, dropped
}

// quoted reports whether a text is part of what is forgotten now.
func (f *forgetting) quoted(ref skald.SessionRef, text string) bool {
	n := normal(strings.TrimSuffix(text, "…"))
	return n != "" && slices.ContainsFunc(f.texts[ref], func(t string) bool { return strings.Contains(t, n) })
}

func cleanDiff(raw string, gone map[skald.URI]bool) string {
	var d Diff
	if raw == "" || json.Unmarshal([]byte(raw), &d) != nil {
		return raw
	}
	out, err := d.without(gone).JSON()
	if err != nil {
		return raw
	}
	return string(out)
}

// quotes are the statements of a memory without speakers and dates.
func quotes(m skald.Memory) string {
	var parts []string
	for _, l := range parseBody(m.Text) {
		parts = append(parts, l.text)
	}
	return strings.Join(parts, "\n")
}

func turnText(t skald.Turn) string {
	t.Forgotten = false
	if read := archive.Turns([]skald.Turn{t}); len(read) == 1 {
		return read[0].Text
	}
	return ""
}

package index

import (
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/message"
)

// MaxPassages is how many passages of one turn are indexed. What lies beyond is found through its neighbours and by expanding.
const MaxPassages = 200

// MaxFilePassages is the same for a file of the tree: 7 MB of text. A source file must be found by what stands at its end, too (RES-03).
const MaxFilePassages = 10_000

// DocsOfTurn lists the passages of a turn, cut out of m.Text(). Heartbeats, internal turns, forgotten, purged and blank ones have none.
// The speaker's name is a term of every passage, so that a question about someone finds what they said.
func DocsOfTurn(ref skald.SessionRef, t skald.Turn, m *message.Message) []skald.Doc {
	return DocsOfPassages(ref, t, m, Passages(m))
}

// Passages is the part of DocsOfTurn that costs: the passages of a message's text and their terms. It needs nothing but the message.
func Passages(m *message.Message) []skald.Doc {
	if m == nil || m.Blank() {
		return nil
	}
	docs := DocsOfText(skald.Doc{Kind: skald.DocTurn}, m.Text())
	return docs[:min(len(docs), MaxPassages)]
}

// DocsOfPassages is DocsOfTurn where the passages are worked out already; it takes them over.
func DocsOfPassages(ref skald.SessionRef, t skald.Turn, m *message.Message, docs []skald.Doc) []skald.Doc {
	if t.Purpose == skald.PurposeHeartbeat || t.Purpose == skald.PurposeInternal || t.Forgotten || t.Purged || m == nil || m.Blank() {
		return nil
	}
	name := analyze.Terms(t.Speaker)
	for i := range docs {
		d := &docs[i]
		d.Scope, d.Session, d.Seq, d.Time, d.Role, d.Origin, d.Audience = ref.Scope, ref.ID, t.Seq, t.Time, t.Role, t.Origin, t.Audience
		d.Terms = append(d.Terms, name...)
		d.Length = len(d.Terms)
	}
	return docs
}

// DocsOfText lists the passages of a text. base gives everything but Start, End, Terms, Length and Text.
func DocsOfText(base skald.Doc, text string) []skald.Doc {
	var out []skald.Doc
	for _, s := range message.Passages(text, message.PassageSize) {
		passage := text[s.Start:s.End]
		if blob(passage) {
			continue
		}
		d := base
		d.Start, d.End, d.Terms = s.Start, s.End, analyze.Terms(passage)
		if d.Length = len(d.Terms); d.Length > 0 {
			d.Text = passage
			out = append(out, d)
		}
	}
	return out
}

// DocsOfMemory lists the passages of a memory's body.
func DocsOfMemory(m skald.Memory) []skald.Doc {
	base := skald.Doc{Scope: m.Scope, Kind: skald.DocMemory, Session: m.Session, URI: m.URI, Time: m.Updated, Origin: m.Origin,
		Audience: m.Audience, Type: m.Type}
	if !m.ValidFrom.IsZero() {
		base.Time = m.ValidFrom
	}
	if len(m.Sources) > 0 {
		base.Seq = m.Sources[0].From
	}
	docs, marks := DocsOfText(base, m.Text), tagMarks(m.Tags)
	for i := range docs {
		docs[i].Terms = append(docs[i].Terms, marks...)
	}
	return docs
}

// DocsOfArchive lists the lines of an archive's overview: one document a line, cut out of ArchiveText.
func DocsOfArchive(a skald.Archive, audience skald.Audience) []skald.Doc {
	var out []skald.Doc
	at := 0
	for _, s := range a.Overview {
		for _, l := range s.Lines {
			line := archiveLine(l)
			d := skald.Doc{Scope: a.Session.Scope, Kind: skald.DocArchive, Session: a.Session.ID, Seq: int64(a.Index), Start: at,
				End: at + len(line), Time: l.Time, Role: skald.RoleSystem, Origin: skald.OriginAgent, Audience: audience,
				Terms: analyze.Terms(line), Text: line}
			at += len(line) + 1
			if d.Length = len(d.Terms); d.Length > 0 {
				out = append(out, d)
			}
		}
	}
	return out
}

// ArchiveText is the text that an archive's documents are cut out of: its lines, one below the other.
func ArchiveText(a skald.Archive) string {
	var b strings.Builder
	for _, s := range a.Overview {
		for _, l := range s.Lines {
			b.WriteString(archiveLine(l) + "\n")
		}
	}
	return b.String()
}

// ArchiveLine finds the overview line that a document was made of.
func ArchiveLine(a skald.Archive, d skald.Doc) (skald.Line, bool) {
	at := 0
	for _, s := range a.Overview {
		for _, l := range s.Lines {
			if at == d.Start {
				return l, true
			}
			at += len(archiveLine(l)) + 1
		}
	}
	return skald.Line{}, false
}

func archiveLine(l skald.Line) string {
	text := strings.Join(strings.Fields(l.Text), " ")
	if l.Speaker != "" {
		text = l.Speaker + ": " + text
	}
	return text
}

// blob recognises encoded binary data: a passage that is mostly one or more very long runs without a space, such as base64.
func blob(passage string) bool {
	long := 0
	for _, w := range strings.Fields(passage) {
		if len(w) >= 120 && encoded(w) {
			long += len(w)
		}
	}
	return long*2 > len(passage)
}

// encoded reports whether a run has the alphabet of base64 or hex.
func encoded(w string) bool {
	odd := 0
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_' {
			continue
		}
		odd++
	}
	return odd*20 < len(w)
}

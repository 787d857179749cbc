package recall

import (
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
)

type turnKey struct {
	ref skald.SessionRef
	seq int64
}

// turnText is a turn with the text that its passages are cut out of.
type turnText struct {
	skald.Turn
	text string
	tool string
}

// load reads the texts of the candidates, memories first. When the time runs out the rest is left.
func (c *course) load() {
	c.turns = map[turnKey]*turnText{}
	archives := map[turnKey]*skald.Archive{}
	for _, k := range c.kept() {
		if c.late() {
			c.inTimeOver = true
			k.drop("no time left")
			continue
		}
		switch k.doc.Kind {
		case skald.DocTurn:
			c.loadTurn(k)
		case skald.DocArchive:
			c.loadLine(k, archives)
		case skald.DocResource, skald.DocSkill:
			c.loadFile(k)
		default:
			c.loadMemory(k)
		}
	}
}

func ref(d skald.Doc) skald.SessionRef { return skald.SessionRef{Scope: d.Scope, ID: d.Session} }

func (c *course) loadTurn(k *candidate) {
	t := c.turn(turnKey{ref(k.doc), k.doc.Seq})
	if t == nil || k.doc.End > len(t.text) || k.doc.Start < 0 || k.doc.Start > k.doc.End {
		k.drop("forgotten or purged")
		return
	}
	k.turn, k.text = t, t.text[k.doc.Start:k.doc.End]
	k.uri = ref(k.doc).TurnsURI(k.doc.Seq, k.doc.Seq)
	k.speaker = speaker(t)
	k.label = label(t.Origin)
}

// turn reads a turn, once; nil when it may not be shown.
func (c *course) turn(key turnKey) *turnText {
	if t, ok := c.turns[key]; ok {
		return t
	}
	c.turns[key] = nil
	list, err := c.tx.Turns(key.ref, skald.TurnQuery{From: key.seq, To: key.seq})
	if err != nil || len(list) != 1 || list[0].Forgotten || list[0].Purged {
		return nil
	}
	w, ok := parsed(list[0])
	if !ok {
		return nil
	}
	t := &turnText{Turn: list[0], text: w.text, tool: w.tool}
	c.turns[key] = t
	return t
}

func parsed(t skald.Turn) (words, bool) {
	key := string(t.Link) + string(t.Salt) // a payload that is replaced gets a new salt
	if w, ok := texts.Get(key); ok && key != "" {
		return w, true
	}
	m, err := message.Parse(t.Raw)
	if err != nil {
		return words{}, false
	}
	w := words{text: m.Text(), tool: m.ToolName}
	if key != "" {
		texts.Put(key, w, len(w.text))
	}
	return w, true
}

func speaker(t *turnText) string {
	switch {
	case t.Speaker != "":
		return t.Speaker
	case t.Role == skald.RoleTool && t.tool != "":
		return "tool " + t.tool
	}
	return string(t.Role)
}

// label marks what did not come from the owner or the agent.
func label(o skald.Origin) string {
	switch o {
	case skald.OriginTool:
		return "tool"
	case skald.OriginPerson:
		return "other person"
	}
	return ""
}

// loadLine reads one line of an overview; it leads to its own turns (I5).
func (c *course) loadLine(k *candidate, archives map[turnKey]*skald.Archive) {
	key := turnKey{ref(k.doc), k.doc.Seq}
	a, ok := archives[key]
	if !ok {
		if got, err := c.tx.Archive(key.ref, int(key.seq)); err == nil {
			a = &got
		}
		archives[key] = a
	}
	if a == nil {
		k.drop("the archive is gone")
		return
	}
	l, ok := index.ArchiveLine(*a, k.doc)
	if !ok {
		k.drop("the line is gone")
		return
	}
	k.text, k.speaker, k.time = strings.Join(strings.Fields(l.Text), " "), l.Speaker, l.Time
	if strings.HasPrefix(l.Status, "reversed") {
		k.superseded = true
	}
	k.uri = key.ref.TurnsURI(l.From, l.To)
	k.sources = []skald.MemorySource{{Session: key.ref, From: l.From, To: l.To}}
}

func (c *course) loadMemory(k *candidate) {
	m, err := c.tx.Memory(k.doc.Scope, k.doc.URI)
	if err != nil || k.doc.End > len(m.Text) || k.doc.Start > k.doc.End {
		k.drop("the memory is gone")
		return
	}
	k.text, k.uri, k.sources, k.memory = m.Text[k.doc.Start:k.doc.End], m.URI, m.Sources, &m
	if c.r.PreferAbstract {
		k.text = firstSentence(k.text)
	}
	k.superseded = m.Superseded != "" || !m.ValidTo.IsZero() && m.ValidTo.Before(c.r.Now)
	k.label = label(m.Origin)
}

// loadFile reads a passage of a file, or of a folder's own text; a file is read once.
func (c *course) loadFile(k *candidate) {
	uri := index.FileURI(k.doc.URI)
	f, ok := c.files[uri]
	if !ok {
		if got, err := c.tx.File(k.doc.Scope, uri); err == nil {
			f = &got
		}
		if c.files == nil {
			c.files, c.fileTexts = map[skald.URI]*skald.File{}, map[skald.URI]string{}
		}
		c.files[uri] = f
	}
	if f == nil {
		k.drop("the file is gone")
		return
	}
	text, ok := c.fileTexts[k.doc.URI]
	if !ok {
		text = index.FileText(*f, k.doc.URI)
		c.fileTexts[k.doc.URI] = text
	}
	if k.doc.End > len(text) || k.doc.Start < 0 || k.doc.Start > k.doc.End {
		k.drop("the file is another by now")
		return
	}
	k.file, k.uri, k.text = f, k.doc.URI, text[k.doc.Start:k.doc.End]
}

func firstSentence(s string) string {
	s = strings.TrimSpace(s)
	for i, r := range s {
		if r == '\n' || r == '。' || r == '.' && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\n') {
			return strings.TrimSpace(s[:i+len(string(r))])
		}
	}
	return s
}

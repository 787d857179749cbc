package trial

import (
	"encoding/json"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/message"
)

// unit is a piece of a request that stands for itself: a raw message, an item of a recall, a line of a summary.
type unit struct {
	terms  map[string]bool // lazily made
	text   string          // white space folded
	tool   bool            // the result of a tool
	source source
}

// source says how a unit came into a request.
type source string

const (
	fromWindow source = "window" // stands raw
	fromNotes  source = "notes"  // first message: profile and summaries
	fromRecall source = "recall" // an item of a recall
)

func (u *unit) has(term string) bool {
	if u.terms == nil {
		u.terms = map[string]bool{}
		for _, t := range analyze.Query(u.text) {
			u.terms[t] = true
		}
		for _, v := range values(u.text) {
			u.terms[v] = true
		}
	}
	return u.terms[term]
}

// reader turns messages into units and remembers them: the same messages stand in request after request.
type reader struct{ known map[string][]*unit }

const keptMessages = 20_000

func newReader() *reader { return &reader{known: map[string][]*unit{}} }

// units reads a request. What an engine put in itself is read as notes or recall.
func (r *reader) units(request ...[]json.RawMessage) []*unit {
	var all []*unit
	for _, list := range request {
		for i, raw := range list {
			all = append(all, r.message(raw, i == 0)...)
		}
	}
	return all
}

func (r *reader) message(raw json.RawMessage, first bool) []*unit {
	if known, ok := r.known[string(raw)]; ok {
		return known
	}
	if len(r.known) > keptMessages {
		clear(r.known)
	}
	list := unitsOf(raw, first)
	r.known[string(raw)] = list
	return list
}

func unitsOf(raw json.RawMessage, first bool) []*unit {
	m, err := message.Parse(raw)
	if err != nil {
		return nil
	}
	if !message.Injected(raw) {
		return []*unit{{text: fold(m.Text()), tool: m.SkaldRole() == skald.RoleTool, source: fromWindow}}
	}
	body := m.Text()
	if items := recalled(body); items != nil {
		return passages(items, fromRecall)
	}
	if first {
		return passages(strings.Split(body, "\n"), fromNotes)
	}
	return nil // the lines around a recall
}

func passages(texts []string, from source) (list []*unit) {
	for _, t := range texts {
		if t = fold(t); t != "" {
			list = append(list, &unit{text: t, source: from})
		}
	}
	return list
}

// recalled lists the texts in the JSON of a recall; nil when there is none.
func recalled(body string) []string {
	at := strings.IndexByte(body, '{')
	if at < 0 {
		return nil
	}
	var answer struct {
		Memories json.RawMessage `json:"memories"`
	}
	if json.NewDecoder(strings.NewReader(body[at:])).Decode(&answer) != nil || answer.Memories == nil {
		return nil
	}
	var any any
	if json.Unmarshal(answer.Memories, &any) != nil {
		return nil
	}
	return texts(any, []string{})
}

func texts(v any, list []string) []string {
	switch v := v.(type) {
	case string:
		list = append(list, v)
	case []any:
		for _, e := range v {
			list = texts(e, list)
		}
	case map[string]any:
		for _, e := range v {
			list = texts(e, list)
		}
	}
	return list
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// holdsAnywhere reports that every value stands somewhere, in whatever unit; of a statement without values, that a unit holds half of
// its words. It is the generous test: what it finds counts as known.
func holdsAnywhere(units []*unit, s, e statement) bool {
	if len(s.values) > 0 {
		for _, v := range s.values {
			if !anyHas(units, v) {
				return false
			}
		}
		return true
	}
	words := common(s, e)
	for _, u := range units {
		if 2*count(u, words) >= len(words) {
			return true
		}
	}
	return false
}

func anyHas(units []*unit, term string) bool {
	for _, u := range units {
		if u.has(term) {
			return true
		}
	}
	return false
}

// holdsTogether finds one unit that says it: all values, and half of the words that both statements share; all of these words where
// there is no value. It is the strict test.
func holdsTogether(units []*unit, s, e statement) (*unit, bool) {
	words := common(s, e)
	for _, u := range units {
		n := count(u, words)
		if 2*n < len(words) || len(s.values) == 0 && n < len(words) {
			continue
		}
		if all(u, s.values) {
			return u, true
		}
	}
	return nil, false
}

func all(u *unit, terms []string) bool {
	for _, t := range terms {
		if !u.has(t) {
			return false
		}
	}
	return true
}

func count(u *unit, words []string) (n int) {
	for _, w := range words {
		if u.has(w) {
			n++
		}
	}
	return n
}

// common are the content words that both statements have.
func common(s, e statement) (list []string) {
	for w := range s.words {
		if e.words[w] {
			list = append(list, w)
		}
	}
	return list
}

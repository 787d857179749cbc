package openviking

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/message"
)

// diff is the server's memory_diff.json.
type diff struct {
	At         string `json:"extracted_at"`
	Operations struct {
		Adds, Updates, Deletes []change
	} `json:"operations"`
}

type change struct {
	URI   string `json:"uri"`
	After string `json:"after"`
}

func parseDiff(b []byte) (d diff, err error) {
	if err := json.Unmarshal(b, &d); err != nil {
		return d, skald.E("openviking.diff", skald.KindInternal, "memory_diff.json cannot be read (%w); it is read again", err)
	}
	return d, nil
}

// serverFolder marks the local URIs of memories that the server made: …/memories/<type>/openviking/<its path there>.
const serverFolder = "openviking"

// fromServer reports whether the server made a memory.
func fromServer(m skald.Memory) bool { return strings.Contains(string(m.URI), "/"+serverFolder+"/") }

// place is where a memory of the server stands here.
type place struct {
	kind skald.MemoryType
	tail []string // below the type's folder of the server's memories
	peer bool     // about somebody else
}

// placeOf reads a URI of the server: viking://user/<me>/memories/<type>/… or viking://user/<me>/peers/<peer>/memories/<type>/….
func placeOf(uri string) (p place, ok bool) {
	parts := strings.Split(strings.TrimPrefix(uri, string(skald.Root)), "/")
	at := slices.Index(parts, "memories")
	if at < 0 || at+1 >= len(parts) {
		return p, false
	}
	p.tail = parts[at+1:]
	if p.peer = at > 2; p.peer {
		p.tail = append(slices.Clone(parts[2:at]), p.tail...)
		p.kind = skald.MemoryEntity
		return p, true
	}
	switch kind := skald.MemoryType(strings.TrimSuffix(parts[at+1], ".md")); kind {
	case skald.MemoryProfile, skald.MemoryPreference, skald.MemoryEntity, skald.MemoryEvent, skald.MemoryCase, skald.MemoryPattern:
		p.kind = kind
	case "trajectories":
		p.kind = skald.MemoryCase
	case "experiences":
		p.kind = skald.MemoryPattern
	default:
		return p, false // the agent's persona and the like: nothing that somebody said
	}
	return p, true
}

// take puts the memories that the server made of an archive into the local store: with the turns they came from, so that they can be
// traced, expanded, recalled and forgotten as those that were made here. It runs once per archive, in the transaction that says so.
func (d *delivery) take(tx skald.Tx, w committed, made diff) error {
	changes := slices.Concat(made.Operations.Adds, made.Operations.Updates)
	if len(changes)+len(made.Operations.Deletes) == 0 {
		return nil
	}
	a, err := tx.Archive(d.ref(), w.Index)
	if err != nil {
		return unlessMissing(err)
	}
	turns, err := tx.Turns(d.ref(), skald.TurnQuery{From: a.From, To: a.To})
	if err != nil {
		return err
	}
	for _, c := range changes {
		m, ok := d.memory(c, a, turns, timeOf(made.At))
		if !ok {
			continue
		}
		if err := save(tx, m); err != nil {
			return err
		}
		if !slices.Contains(a.Memories, m.URI) {
			a.Memories = append(slices.Clone(a.Memories), m.URI)
		}
	}
	for _, c := range made.Operations.Deletes {
		if p, ok := placeOf(c.URI); ok {
			if err := remove(tx, d.scopeOf(p.kind), d.localURI(p)); err != nil {
				return err
			}
		}
	}
	return tx.PutArchive(a)
}

func save(tx skald.Tx, m skald.Memory) error {
	if err := tx.PutMemory(m); err != nil {
		return err
	}
	if err := tx.DeleteURIDocs(m.Scope, m.URI); err != nil {
		return err
	}
	return tx.PutDocs(index.DocsOfMemory(m))
}

func remove(tx skald.Tx, scope skald.Scope, uri skald.URI) error {
	if err := tx.DeleteURIDocs(scope, uri); err != nil {
		return err
	}
	return unlessMissing(tx.DeleteMemory(scope, uri))
}

// memory is a change as a memory here; false when it is none, or all of its turns are forgotten.
func (d *delivery) memory(c change, a skald.Archive, turns []skald.Turn, at time.Time) (m skald.Memory, ok bool) {
	p, ok := placeOf(c.URI)
	text := bare(c.After)
	if !ok || text == "" {
		return m, false
	}
	if at.IsZero() {
		at = d.store.now()
	}
	m = skald.Memory{URI: d.localURI(p), Scope: d.scopeOf(p.kind), Type: p.kind, Text: text, Created: at, Updated: at, Origin: skald.OriginAgent,
		Audience: d.session.Audience, Session: d.ref().ID, Archive: a.Index, Lang: language(text)}
	if p.peer {
		m.Origin = skald.OriginPerson
	}
	m.Sources = sources(d.ref(), a, turns, text)
	return m, len(m.Sources) > 0
}

func (d *delivery) scopeOf(kind skald.MemoryType) skald.Scope {
	scope := d.ref().Scope
	if !kind.OfAgent() {
		return scope
	}
	agent := d.session.Agent
	if agent == "" {
		agent = skald.DefaultIdentity.Agent
	}
	return d.store.o.Policy.AgentScope(skald.Identity{Account: scope.Account, User: scope.User, Agent: agent})
}

func (d *delivery) localURI(p place) skald.URI {
	tail := p.tail
	if !p.peer && len(tail) > 1 {
		tail = tail[1:] // the type's folder
	}
	return d.scopeOf(p.kind).RootURI().Join(append([]string{"memories", string(p.kind), serverFolder}, tail...)...)
}

// fileOf is where a memory stands on the server: where the server put it, or in a folder of Skald's for one that memory_store kept.
func (s *Store) fileOf(m skald.Memory) string {
	home := "viking://user/" + s.server.user
	if _, tail, ok := strings.Cut(string(m.URI), "/"+serverFolder+"/"); ok && fromServer(m) {
		switch {
		case strings.HasPrefix(tail, "peers/"):
			peer, rest, _ := strings.Cut(strings.TrimPrefix(tail, "peers/"), "/")
			return home + "/peers/" + peer + "/memories/" + rest
		case m.Type == skald.MemoryProfile:
			return home + "/memories/" + tail
		}
		return home + "/memories/" + string(m.Type) + "/" + tail
	}
	kind := m.Type
	if kind == skald.MemoryProfile {
		kind = skald.MemoryEntity // the profile is the server's own to write
	}
	return home + "/memories/" + string(kind) + "/skald/" + m.URI.Name()
}

// bare is a memory's text without the fields that the server writes below it.
func bare(text string) string {
	text, _, _ = strings.Cut(text, "<!-- MEMORY_FIELDS")
	return strings.TrimSpace(text)
}

func language(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return "zh"
	}
	return "en"
}

// sources are the turns behind a memory of an archive. The server names the archive only: the turns that share most words with the memory are
// taken, so that to forget it does not take the whole archive along; all of them when none shares enough. Forgotten turns are no source.
func sources(ref skald.SessionRef, a skald.Archive, turns []skald.Turn, text string) []skald.MemorySource {
	const most, enough = 3, 0.3 // turns; share of the memory's words
	words := set(analyze.Terms(text))
	type scored struct {
		seq   int64
		share float64
	}
	var near []scored
	open := 0
	for _, t := range turns {
		if t.Forgotten || t.Purged || t.Purpose != skald.PurposeTalk {
			continue
		}
		open++
		read, err := message.Parse(t.Raw)
		if err != nil || t.Role != skald.RoleUser && t.Role != skald.RoleAssistant {
			continue
		}
		if share := common(words, read.Text()); share >= enough {
			near = append(near, scored{t.Seq, share})
		}
	}
	if open == 0 {
		return nil
	}
	slices.SortStableFunc(near, func(x, y scored) int {
		switch {
		case x.share > y.share:
			return -1
		case x.share < y.share:
			return 1
		}
		return 0
	})
	if len(near) == 0 {
		return []skald.MemorySource{{Session: ref, From: a.From, To: a.To}}
	}
	near = near[:min(len(near), most)]
	slices.SortFunc(near, func(x, y scored) int { return int(x.seq - y.seq) })
	var out []skald.MemorySource
	for _, n := range near {
		out = append(out, skald.MemorySource{Session: ref, From: n.seq, To: n.seq})
	}
	return out
}

// common is the share of the words that a text has too.
func common(words map[string]bool, text string) float64 {
	if len(words) == 0 {
		return 0
	}
	n := 0
	for w := range set(analyze.Terms(text)) {
		if words[w] {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

func set(terms []string) map[string]bool {
	out := map[string]bool{}
	for _, t := range terms {
		out[t] = true
	}
	return out
}

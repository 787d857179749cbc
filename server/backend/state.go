package backend

import (
	"encoding/json"
	"regexp"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server/api"
)

// state is a session with what only /api/v1 knows about it.
type state struct {
	skald.Session
	note note
}

// note is the content of Session.Meta. A message may take several turns (a call and its result); callers count messages, so the
// turns that merely continue one are counted here.
type note struct {
	Memory     *api.MemoryPolicy `json:"memory_policy,omitempty"`
	Extraction extraction        `json:"memory_extraction_config,omitzero"`
	LastAuto   time.Time         `json:"last_auto_commit_at,omitzero"`
	LastIdle   time.Time         `json:"last_idle_commit_at,omitzero"`
	Uses       int               `json:"uses,omitempty"`        // memories reported used since the last commit
	Parts      int               `json:"parts,omitempty"`       // continuing turns ever stored
	OpenParts  int               `json:"open_parts,omitempty"`  // continuing turns among the open ones
	OpenFrom   int64             `json:"open_from,omitempty"`   // where those began when they were counted
	Keep       api.CommitOptions `json:"keep,omitzero"`         // of the last commit by a caller
	KeptTokens int               `json:"kept_tokens,omitempty"` // of what that commit left open
}

// extraction is a memory_extraction_config.
type extraction struct {
	Events struct {
		Tags []string `json:"tags,omitempty"`
	} `json:"events,omitzero"`
}

// asked is what a commit with these tags (nil: the session's) asks of the extraction.
func (n note) asked(tags []string) skald.Extraction {
	x := skald.Extraction{Tags: tags}
	if tags == nil {
		x.Tags = n.Extraction.Events.Tags
	}
	if p := n.Memory; p != nil {
		for _, t := range p.Types {
			x.Types = append(x.Types, skald.MemoryType(t))
		}
		x.Off = !p.Self.Enabled || p.Types != nil && len(p.Types) == 0
	}
	return x
}

func load(tx skald.Tx, ref skald.SessionRef) (state, error) {
	s, err := tx.Session(ref)
	if err != nil {
		return state{}, engine.Gone(tx, ref, err)
	}
	return read(s)
}

func read(s skald.Session) (state, error) {
	out := state{Session: s}
	if len(s.Meta) > 0 {
		if err := json.Unmarshal(s.Meta, &out.note); err != nil {
			return out, skald.E("backend.session", skald.KindInternal, "the session's meta is damaged: %w", err)
		}
	}
	if out.note.OpenFrom != s.OpenFrom { // somebody else's commit archived all that was open then
		out.note.OpenFrom, out.note.OpenParts, out.note.KeptTokens = s.OpenFrom, 0, 0
	}
	return out, nil
}

func (s *state) save(tx skald.Tx) error {
	meta, err := json.Marshal(s.note)
	if err != nil {
		return skald.E("backend.session", skald.KindInternal, "%w", err)
	}
	s.Meta = meta
	return tx.PutSession(s.Session)
}

// stored counts turns that were appended.
func (s *state) stored(turns []skald.Turn) {
	for _, t := range turns {
		if continues(t) {
			s.note.Parts++
			s.note.OpenParts++
		}
	}
}

// kept counts anew after a commit that left turns open.
func (s *state) kept(turns []skald.Turn) {
	s.note.OpenFrom, s.note.OpenParts, s.note.KeptTokens = s.OpenFrom, 0, s.OpenTokens
	for _, t := range turns {
		if continues(t) {
			s.note.OpenParts++
		}
	}
}

// continuing is the entry id of a message's second and later turns, as api.ToHost makes it.
var continuing = regexp.MustCompile(`^msg_[0-9a-f]{32}/[0-9]+$`)

// continues reports a turn that belongs to the message of the turn before.
func continues(t skald.Turn) bool { return continuing.MatchString(t.EntryID) }

// pending are the tokens that came since a commit: what it left open is not counted until the next one.
func (s *state) pending() int { return max(0, s.OpenTokens-s.note.KeptTokens) }

func (s *state) live() int  { return int(s.LastSeq-s.OpenFrom+1) - s.note.OpenParts }
func (s *state) total() int { return int(s.LastSeq) - s.note.Parts }

// noPolicy marks a session of /api/v1 that never commits by itself.
var noPolicy = json.RawMessage(`{}`)

func (s *state) setPolicy(p *api.AutoCommitPolicy) error {
	s.Policy = noPolicy
	if p == nil {
		return nil
	}
	raw, err := json.Marshal(p)
	s.Policy = raw
	return err
}

// policy is nil when the session does not commit by itself, or is a host's.
func (s *state) policy() (*api.AutoCommitPolicy, error) {
	if len(s.Policy) == 0 || string(s.Policy) == string(noPolicy) {
		return nil, nil
	}
	var p api.AutoCommitPolicy
	if err := json.Unmarshal(s.Policy, &p); err != nil {
		return nil, skald.E("backend.session", skald.KindInternal, "the session's policy is damaged: %w", err)
	}
	return &p, nil
}

package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/message"
)

// session is one conversation to play: what stands between two resets of the host.
type session struct {
	number   int // from 1, in the order of time
	origin   string
	title    string
	key      string
	agent    string
	started  time.Time
	last     time.Time
	messages []json.RawMessage
	parsed   []*message.Message
	index    map[string]int // of a message, by its bytes
	calls    map[int][]call // by the index of the message that makes them
}

// id is a UUID, so that no two sessions of the trial become one, whatever their keys.
func (s *session) id() string {
	h := skald.SessionID("", fmt.Sprintf("trial:%s:%d", s.origin, s.number))
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// found is what a source holds.
type found struct {
	sessions []*session
	notes    []string // texts of the host's own memory files, which its model sees anyway
	skipped  int      // messages that could not be read, are too old, or belong to sessions beyond the limit
}

// load reads a source's conversations since a time, the newest limit sessions of them (0: all), in the order of time.
func load(ctx context.Context, src ingest.Source, since time.Time, limit int) (found, error) {
	var r found
	for c, err := range src.Conversations(ctx) {
		if err != nil {
			return r, err
		}
		if err := ctx.Err(); err != nil {
			return r, err
		}
		list, skipped, err := conversation(c, since)
		r.skipped += skipped
		if err != nil {
			return r, err
		}
		if isNotes(c) {
			for _, s := range list {
				r.note(s)
			}
			continue
		}
		r.sessions = append(r.sessions, list...)
	}
	slices.SortStableFunc(r.sessions, func(a, b *session) int { return a.started.Compare(b.started) })
	if limit > 0 {
		r.newest(limit)
	}
	for i, s := range r.sessions {
		s.number = i + 1
		s.findCalls()
		s.index = make(map[string]int, len(s.messages))
		for n, raw := range s.messages {
			s.index[string(raw)] = n
		}
	}
	return r, nil
}

// isNotes reports the host's own memory files, as ingest/openclaw hands them over.
func isNotes(c ingest.Conversation) bool {
	return strings.HasPrefix(c.Session.SessionID, "openclaw-notes-") || strings.HasSuffix(strings.ToLower(c.Origin), ".md")
}

func (r *found) note(s *session) {
	for _, m := range s.parsed {
		r.notes = append(r.notes, m.Text())
	}
}

// newest keeps the sessions that were used last.
func (r *found) newest(limit int) {
	byUse := slices.Clone(r.sessions)
	slices.SortStableFunc(byUse, func(a, b *session) int { return b.last.Compare(a.last) })
	keep := map[*session]bool{}
	for _, s := range byUse[:min(limit, len(byUse))] {
		keep[s] = true
	}
	r.sessions = slices.DeleteFunc(r.sessions, func(s *session) bool {
		if !keep[s] {
			r.skipped += len(s.messages)
		}
		return !keep[s]
	})
}

// conversation reads one conversation, cut where the host was reset.
func conversation(c ingest.Conversation, since time.Time) (list []*session, skipped int, err error) {
	if c.Items == nil {
		return nil, 0, nil
	}
	now := c.Started
	var s *session
	for item, err := range c.Items {
		if err != nil {
			skipped++ // what came before stays
			break
		}
		m := readable(item.Entry.Message)
		if m == nil {
			skipped++
			continue
		}
		if !m.Timestamp.IsZero() {
			now = m.Timestamp
		}
		if !since.IsZero() && now.Before(since) {
			skipped++
			continue
		}
		if s == nil || item.Entry.Reset && len(s.messages) > 0 {
			s = &session{origin: c.Origin, title: c.Title, key: c.Session.SessionKey, agent: c.Session.AgentID, started: now}
			list = append(list, s)
		}
		s.messages, s.parsed, s.last = append(s.messages, item.Entry.Message), append(s.parsed, m), now
	}
	return list, skipped, nil
}

// readable parses a message that a host would show its model. The host's own compaction summaries are none: the trial compacts itself.
func readable(raw json.RawMessage) *message.Message {
	if raw == nil {
		return nil
	}
	m, err := message.Parse(raw)
	if err != nil || m.Role == "" || m.Role == message.RoleCompaction {
		return nil
	}
	return m
}

func (s *session) place(index int) place {
	at := s.started
	for i := index; i >= 0; i-- {
		if t := s.parsed[i].Timestamp; !t.IsZero() {
			at = t
			break
		}
	}
	return place{session: s, index: index, time: at}
}

// findCalls pairs the session's tool calls with their results.
func (s *session) findCalls() {
	s.calls = map[int][]call{}
	for i, m := range s.parsed {
		if m.SkaldRole() != skald.RoleAssistant {
			continue
		}
		for _, b := range m.ToolCalls() {
			c := readCall(b, s.place(i))
			if !s.findResult(&c, i+1) {
				c.failed = true
			}
			s.calls[i] = append(s.calls[i], c)
		}
	}
}

// findResult looks up to the next message of the same role.
func (s *session) findResult(c *call, from int) bool {
	for i := from; i < len(s.parsed); i++ {
		m := s.parsed[i]
		switch {
		case m.SkaldRole() == skald.RoleAssistant, m.SkaldRole() == skald.RoleUser:
			return false
		case m.SkaldRole() == skald.RoleTool && message.ToolID(m.ToolCallID) == c.id:
			c.result, c.failed = fold(m.Text()), m.IsError
			c.tokens += message.Tokens(s.messages[i])
			return true
		}
	}
	return false
}

// name is how the report calls the session.
func (s *session) name() string {
	for _, n := range []string{s.title, s.key, s.origin} {
		if n != "" {
			return n
		}
	}
	return fmt.Sprintf("session %d", s.number)
}

package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// step is the time between two messages of a session: the data tell the session's start only.
const step = 20 * time.Second

// player puts one conversation into a fresh engine.
type player struct {
	target Target
	texts  map[string]string // message id -> text
	places map[string]string // session and sequence -> message id, for the ranked list
	order  map[string]int    // message id -> its place in the conversation
	words  words
	end    time.Time // of the last session
	turns  int
	before func(ctx context.Context, prompt string, now time.Time) error // called before an exchange is stored; nil: nothing
}

// store delivers all sessions through commitTurn and commits each at its end.
func (p *player) store(ctx context.Context, c Conversation) error {
	for i, s := range c.Sessions {
		at, err := s.start()
		if err != nil {
			return err
		}
		key := fmt.Sprintf("agent:main:session-%03d", i+1)
		id, err := p.session(ctx, key, s, at)
		if err != nil {
			return fmt.Errorf("session %s: %w", s.ID, err)
		}
		if id == "" {
			continue
		}
		p.target.SetClock(p.end)
		if _, err := p.target.Inspector.Commit(ctx, skald.DefaultIdentity, id, false); err != nil {
			return err
		}
		if err := p.target.RunJobs(ctx); err != nil {
			return err
		}
	}
	return nil
}

// session delivers one session, an exchange at a time, and returns its stored id.
func (p *player) session(ctx context.Context, key string, s Session, at time.Time) (id string, err error) {
	seq := int64(0)
	for n, exchange := range exchanges(s.Messages) {
		var raws []json.RawMessage
		for i, m := range exchange {
			raws = append(raws, hostMessage(m, at.Add(time.Duration(int(seq)+i)*step)))
		}
		if p.before != nil {
			if err := p.before(ctx, exchange[0].Text, at.Add(time.Duration(seq)*step)); err != nil {
				return id, err
			}
		}
		p.end = at.Add(time.Duration(int(seq)+len(raws)) * step)
		p.target.SetClock(p.end)
		r, err := p.target.Engine.CommitTurn(ctx, skald.CommitTurnRequest{
			Request:        skald.Request{Identity: skald.DefaultIdentity, Session: skald.SessionAddress{SessionKey: key}, Now: p.end.UnixMilli()},
			AdvancementKey: fmt.Sprintf("%s-%d", key, n), Messages: raws,
		})
		if err != nil {
			return id, err
		}
		if r.Stored != len(raws) {
			return id, fmt.Errorf("%d of %d messages were stored (%s)", r.Stored, len(raws), r.Reason)
		}
		id = r.SessionID
		for i, m := range exchange {
			p.places[place(id, r.From+int64(i))] = m.ID
			p.texts[m.ID], p.order[m.ID] = m.Text, len(p.order)
		}
		seq += int64(len(raws))
		p.turns += len(raws)
	}
	return id, nil
}

func place(session string, seq int64) string { return fmt.Sprintf("%s/%d", session, seq) }

// exchanges cuts a session where a user's message follows an answer.
func exchanges(list []Message) (out [][]Message) {
	for i, m := range list {
		if i == 0 || m.Role == "user" && list[i-1].Role != "user" {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], m)
	}
	return out
}

// hostMessage is the message as OpenClaw would hand it over.
func hostMessage(m Message, at time.Time) json.RawMessage {
	text := m.Text
	if m.Caption != "" {
		text += "\n[image: " + m.Caption + "]"
	}
	raw, err := json.Marshal(struct {
		Role    string           `json:"role"`
		Content []map[string]any `json:"content"`
		Name    string           `json:"name,omitempty"`
		Time    int64            `json:"timestamp"`
	}{m.Role, []map[string]any{{"type": "text", "text": text}}, m.Name, at.UnixMilli()})
	if err != nil {
		panic(err) // strings and numbers
	}
	return raw
}

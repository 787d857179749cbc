package trial

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// repeat is a fact that a user says again, with what Skald had of it at that moment.
type repeat struct {
	now, earlier statement
	how          string // how Skald had it; "" when it had not
}

// How Skald had a fact when the user said it again.
const (
	stoodRaw    = "it stood in the raw history of the request"
	stoodNotes  = "it stood in the notes at the start of the request"
	stoodRecall = "an earlier recall in the request held it"
	cameAlone   = "Skald recalls it for the rest of the prompt, without the repeated sentence"
	onlyNow     = "Skald recalled it, but for a prompt that named it: not counted"
)

// what names the fact: its values, or the words that both sentences have.
func (r repeat) what() []string {
	if len(r.now.values) > 0 {
		return r.now.values
	}
	list := common(r.now, r.earlier)
	slices.Sort(list)
	return list
}

func (r repeat) tokens() int { return message.TextTokens(r.now.text) }

// prober asks Skald what it would have shown for another prompt at the same moment. Nothing of that is kept.
type prober struct {
	engine  skald.Engine
	options replay.Options
}

func (p prober) assemble(ctx context.Context, prompt string, now int64) ([]json.RawMessage, error) {
	r, err := p.engine.Assemble(ctx, skald.AssembleRequest{
		Request: skald.Request{
			Identity: p.options.Identity, Now: now, Settings: skald.Settings{RecallForm: p.options.RecallForm},
			Session: skald.SessionAddress{SessionID: p.options.Session, SessionKey: p.options.Key, AgentID: p.options.Identity.Agent},
		},
		Prompt: prompt, TokenBudget: p.options.Budget, DryRun: true,
	})
	return r.Messages, err
}

// ask finds the facts that the prompt of a request repeats, and how Skald had each of them.
func (j *judge) ask(ctx context.Context, p prober, s *session, c replay.Call) (list []repeat) {
	if c.Refused {
		return nil
	}
	var rest []string
	for i := c.Start; i < c.Message && s.parsed[i].SkaldRole() == skald.RoleUser; i++ {
		text := said(s.parsed[i])
		for _, now := range statements(s.parsed[i], s.place(i)) {
			if earlier, ok := j.book.repeated(now); ok {
				list = append(list, repeat{now: now, earlier: earlier})
				text = strings.Replace(text, now.text, "", 1)
			}
		}
		rest = append(rest, text)
	}
	if len(list) > 0 {
		j.place(ctx, p, c, strings.TrimSpace(strings.Join(rest, "\n")), list)
	}
	return list
}

// place says of each repeat how Skald had it: in the request as it stood before the prompt, or in a recall for the rest of the prompt.
func (j *judge) place(ctx context.Context, p prober, c replay.Call, rest string, list []repeat) {
	standing, own := cutRecall(c.Before)
	before := j.reader.units(standing)
	var other []*unit
	if !recall.Trivial(rest) {
		if messages, err := p.assemble(ctx, rest, list[0].now.at.time.UnixMilli()); err == nil { // a failure costs Skald a point, no more
			other = j.reader.units(messages)
		}
	}
	for i := range list {
		r := &list[i]
		if u, ok := holdsTogether(before, r.now, r.earlier); ok {
			r.how = map[source]string{fromWindow: stoodRaw, fromNotes: stoodNotes, fromRecall: stoodRecall}[u.source]
		} else if _, ok := holdsTogether(other, r.now, r.earlier); ok {
			r.how = cameAlone
		} else if _, ok := holdsTogether(j.reader.units(own), r.now, r.earlier); ok {
			r.how = onlyNow
		}
	}
}

// cutRecall parts a request into what stood before the prompt was known and the recall for the prompt.
func cutRecall(messages []json.RawMessage) (standing, own []json.RawMessage) {
	at := len(messages)
	for at > 0 && message.Injected(messages[at-1]) {
		at--
		m, err := message.Parse(messages[at])
		if err == nil && m.Role == message.RoleUser {
			if slices.ContainsFunc(messages[at:], func(raw json.RawMessage) bool { return isRecall(raw) }) {
				return messages[:at], messages[at:]
			}
			break
		}
	}
	return messages, nil
}

func isRecall(raw json.RawMessage) bool {
	m, err := message.Parse(raw)
	return err == nil && recalled(m.Text()) != nil
}

package enginebench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

const (
	tokenBudget  = 128_000
	tailSize     = 12
	meanExchange = 4 // messages
)

// session writes one synthetic conversation of an agent with tools.
type session struct {
	id       string
	index    int
	writer   *writer
	prompts  []string
	messages int // delivered so far
	clock    time.Time
	tail     []json.RawMessage
	turns    int
}

// exchange is what one commitTurn delivers.
type exchange struct {
	id       string
	prompt   string
	messages []json.RawMessage
}

func newSession(index int, prompts []string) *session {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(index) * 3 * time.Hour)
	return &session{id: fmt.Sprintf("bench-%05d", index), index: index, writer: newWriter(uint64(index)), prompts: prompts, clock: start}
}

// exchange writes the next exchange, of at most limit messages.
func (s *session) exchange(limit int) exchange { return s.ask(s.prompt(), limit) }

// ask writes an exchange about a prompt: calls with their results, an answer.
func (s *session) ask(prompt string, limit int) exchange {
	s.turns++
	x := exchange{id: fmt.Sprintf("%s-%d", s.id, s.turns), prompt: prompt}
	x.messages = append(x.messages, message.User(x.prompt, s.tick()))
	for r := s.rounds(); r > 0 && len(x.messages)+3 <= limit; r-- {
		id := fmt.Sprintf("call%d%d%d", s.index, s.turns, r)
		x.messages = append(x.messages,
			message.AssistantCall(id, "bash", map[string]string{"command": "grep -rn " + s.writer.word() + " " + s.writer.path()}, s.tick()),
			message.ToolResult(id, "bash", s.writer.log(), s.tick()))
	}
	if len(x.messages) < limit {
		x.messages = append(x.messages, message.Assistant(s.answer(), s.tick()))
	}
	return x
}

// prompt is sometimes one of the prompts that recall is measured with, and otherwise what people write.
func (s *session) prompt() string {
	if s.turns%3 == 0 {
		return s.prompts[(s.turns/3+s.index)%len(s.prompts)]
	}
	if s.writer.IntN(10) == 0 {
		return s.writer.sentenceZH() + s.writer.sentenceZH()
	}
	return s.writer.prose(1 + s.writer.IntN(3))
}

func (s *session) rounds() int { return []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 3}[s.writer.IntN(10)] }

func (s *session) answer() string {
	text := s.writer.prose(2 + s.writer.IntN(6))
	if s.writer.IntN(3) == 0 {
		text += "\n\n```go\n" + s.writer.code(2+s.writer.IntN(12)) + "```\n" + s.writer.sentence()
	}
	return text
}

func (s *session) tick() int64 {
	s.clock = s.clock.Add(time.Duration(5+s.writer.IntN(40)) * time.Second)
	return s.clock.UnixMilli()
}

func (s *session) request() skald.Request {
	return skald.Request{
		Identity: skald.DefaultIdentity, Session: skald.SessionAddress{SessionID: s.id, AgentID: skald.DefaultIdentity.Agent},
		Now: s.clock.UnixMilli(),
	}
}

// assemble asks as the host does before an exchange.
func (s *session) assemble(ctx context.Context, e skald.Engine, x exchange) error {
	_, err := e.Assemble(ctx, skald.AssembleRequest{
		Request: s.request(), Prompt: x.prompt, TokenBudget: tokenBudget, MessageCount: s.messages, Tail: s.tail,
		Pending: message.Tokens(x.messages[0]), TurnID: "turn-" + x.id,
	})
	return err
}

// commit delivers an exchange and remembers what the host would show next time.
func (s *session) commit(ctx context.Context, e skald.Engine, x exchange) error {
	r, err := e.CommitTurn(ctx, skald.CommitTurnRequest{
		Request: s.request(), AdvancementKey: "key-" + x.id, Messages: x.messages, TurnID: "turn-" + x.id, TokenBudget: tokenBudget,
		Admission: s.anchor(s.messages), Terminal: s.anchor(s.messages + len(x.messages) - 1),
	})
	if err == nil && r.Stored != len(x.messages) {
		err = fmt.Errorf("%s: %d of %d messages were stored", x.id, r.Stored, len(x.messages))
	}
	if err != nil {
		return err
	}
	s.messages += len(x.messages)
	all := append(s.tail, x.messages...)
	s.tail = append([]json.RawMessage(nil), all[max(0, len(all)-tailSize):]...)
	return nil
}

func (s *session) anchor(i int) *skald.Anchor {
	return &skald.Anchor{EntryID: fmt.Sprintf("%s-e%d", s.id, i+1), RawSeq: int64(i + 1), Position: int64(i)}
}

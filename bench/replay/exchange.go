package replay

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// entry is one message of the conversation.
type entry struct {
	raw    json.RawMessage
	msg    *message.Message
	tokens int
	time   time.Time // its timestamp, or that of the message before
}

// exchange is a user message, or a run of them, and all that answers it up to the next user message.
type exchange struct {
	start   int // index of the first message in the conversation
	entries []entry
	users   int // messages of the opening run; 0 when the conversation begins with something else
}

// split cuts a conversation into exchanges.
func split(messages []json.RawMessage) ([]exchange, error) {
	var list []exchange
	var now time.Time
	answered := true
	for i, raw := range messages {
		m, err := message.Parse(raw)
		if err != nil {
			return nil, err
		}
		if !m.Timestamp.IsZero() {
			now = m.Timestamp.UTC()
		}
		user := m.SkaldRole() == skald.RoleUser
		if len(list) == 0 || user && answered {
			list = append(list, exchange{start: i})
		}
		x := &list[len(list)-1]
		x.entries = append(x.entries, entry{raw: raw, msg: m, tokens: message.Tokens(raw), time: now})
		if user {
			x.users++
		}
		answered = !user
	}
	return list, nil
}

// prompt is the text of the user's messages.
func (x exchange) prompt() string {
	var texts []string
	for _, e := range x.entries[:x.users] {
		texts = append(texts, e.msg.Text())
	}
	return strings.Join(texts, "\n\n")
}

func (x exchange) last() entry { return x.entries[len(x.entries)-1] }

// raws are the messages from..to of the exchange.
func (x exchange) raws(to int) []json.RawMessage {
	list := make([]json.RawMessage, 0, to)
	for _, e := range x.entries[:to] {
		list = append(list, e.raw)
	}
	return list
}

// pending counts the tokens of the exchange's first n messages: they reach the model after the assembled ones.
func (x exchange) pending(n int) (sum int) {
	for _, e := range x.entries[:n] {
		sum += e.tokens
	}
	return sum
}

package api

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Part is one part of a message: text, context, tool or image_url, with OpenViking's keys. Values stay as the caller wrote
// them, so that odd texts (lone surrogates) come back as they were.
type Part map[string]json.RawMessage

// Message is OpenViking's message.
type Message struct {
	ID        string   `json:"id"`
	Role      string   `json:"role"`
	Parts     []Part   `json:"parts"`
	CreatedAt string   `json:"created_at"`
	Peer      string   `json:"peer_id,omitempty"` // who spoke
	Turn      string   `json:"turn_id,omitempty"`
	Kind      string   `json:"message_kind,omitempty"`
	Sources   []string `json:"source_message_ids,omitempty"`
}

// The kinds of messages.
var messageKinds = map[string]bool{
	"": true, "user_query": true, "assistant_step": true, kindToolTransport: true, "checkpoint": true,
}

const kindToolTransport = "tool_transport"

// incoming is a message as a caller sends it. Unknown members are ignored; role_id is what peer_id was called before (IDN-02).
type incoming struct {
	Role      *string           `json:"role"`
	Content   json.RawMessage   `json:"content"`
	Parts     []json.RawMessage `json:"parts"`
	Peer      *string           `json:"peer_id"`
	RoleID    *string           `json:"role_id"`
	CreatedAt *string           `json:"created_at"`
	Turn      *string           `json:"turn_id"`
	Kind      *string           `json:"message_kind"`
	Sources   []string          `json:"source_message_ids"`
}

// parseMessage reads the message at loc of a request. One of its users' aggregates of tool results becomes several messages.
func parseMessage(b []byte, loc []string, now time.Time) ([]Message, error) {
	var in incoming
	if err := decodeAt(b, &in, loc); err != nil {
		return nil, err
	}
	var v issues
	m := in.message(&v, loc, now)
	if err := v.err(); err != nil {
		return nil, err
	}
	return split(m), nil
}

func (in incoming) message(v *issues, loc []string, now time.Time) Message {
	at := func(field string) []string { return append(loc[:len(loc):len(loc)], field) }
	m := Message{
		ID: newMessageID(), CreatedAt: value(in.CreatedAt), Turn: value(in.Turn), Kind: value(in.Kind), Sources: in.Sources,
		Role: value(in.Role), Peer: strings.TrimSpace(value(in.Peer)),
	}
	if m.Peer == "" {
		m.Peer = strings.TrimSpace(value(in.RoleID))
	}
	if m.CreatedAt == "" {
		m.CreatedAt = timestamp(now)
	}
	switch {
	case in.Role == nil:
		v.add(at("role"), "missing", "Field required")
	case strings.TrimSpace(m.Role) == "":
		v.add(at("role"), "value_error", "must not be empty")
	}
	if m.Peer != "" && !safePeer(m.Peer) {
		v.add(at("peer_id"), "value_error", "a peer id has letters, digits and _@.- only")
	}
	if !messageKinds[m.Kind] {
		v.add(at("message_kind"), "enum", "Input should be user_query, assistant_step, tool_transport or checkpoint")
	}
	m.Parts = in.parts(v, at)
	return m
}

// parts is the parts of a message; they win over content.
func (in incoming) parts(v *issues, at func(string) []string) []Part {
	if len(in.Parts) == 0 {
		return in.text(v, at)
	}
	parts := make([]Part, 0, len(in.Parts))
	for i, raw := range in.Parts {
		loc := append(at("parts"), strconv.Itoa(i))
		parts = append(parts, parsePart(raw, v, loc))
	}
	return parts
}

func (in incoming) text(v *issues, at func(string) []string) []Part {
	switch {
	case len(in.Content) == 0 || string(in.Content) == "null":
		v.add(at("content"), "value_error", "either content or parts must be given")
	case in.Content[0] != '"':
		v.add(at("content"), "string_type", "Input should be a valid string")
	case string(in.Content) == `""`:
		v.add(at("content"), "value_error", "must not be empty")
	}
	return []Part{{"type": literal("text"), "text": in.Content}}
}

// split makes one message of each part of a user's message that holds only tool results (OpenViking's "aggregate").
func split(m Message) []Message {
	if m.Role != "user" || len(m.Parts) < 2 {
		return []Message{m}
	}
	for _, p := range m.Parts {
		if p.text("type") != "tool" {
			return []Message{m}
		}
	}
	all := make([]Message, 0, len(m.Parts))
	for i, p := range m.Parts {
		one := m
		one.Parts, one.Kind = []Part{p}, kindToolTransport
		if i > 0 {
			one.ID = newMessageID()
		}
		all = append(all, one)
	}
	return all
}

// text is a part's value as Go text, "" when it is absent or no string.
func (p Part) text(key string) string {
	var s string
	// A value that is no string has no text.
	_ = json.Unmarshal(p[key], &s)
	return s
}

// literal is s as a JSON string.
func literal(s string) json.RawMessage {
	b, err := wire.Encode(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return b
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func newMessageID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return "msg_" + hex.EncodeToString(b[:])
}

func safePeer(s string) bool {
	return skald.SafeID(s) && strings.Count(s, "@") <= 1
}

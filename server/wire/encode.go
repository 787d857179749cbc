package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	skald "github.com/skald-engine/skald"
)

// Encode is json.Marshal without HTML escapes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Member is a member of an object whose value is written as it is.
type Member struct {
	Name  string
	Value json.RawMessage // nil: the member is left out
}

// Object encodes head, a value that encodes as an object, and adds the members byte for byte.
func Object(head any, members ...Member) ([]byte, error) {
	b, err := Encode(head)
	if err != nil {
		return nil, err
	}
	if len(b) < 2 || b[0] != '{' {
		return nil, fmt.Errorf("%T does not encode as an object", head)
	}
	b = b[:len(b)-1]
	for _, m := range members {
		if m.Value == nil {
			continue
		}
		if !json.Valid(m.Value) {
			return nil, skald.Invalid("wire.encode", m.Name, "is not valid JSON")
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, m.Name...)
		b = append(b, '"', ':')
		b = append(b, m.Value...)
	}
	return append(b, '}'), nil
}

// Array writes raw values as one array, byte for byte. field names them in errors.
func Array(field string, values []json.RawMessage) (json.RawMessage, error) {
	n := 2
	for i, v := range values {
		if !json.Valid(v) {
			return nil, skald.Invalid("wire.encode", fmt.Sprintf("%s[%d]", field, i), "is not valid JSON")
		}
		n += len(v) + 1
	}
	b := append(make([]byte, 0, n), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']'), nil
}

// absent shadows an embedded struct's field of the same JSON name, so that Object can write it raw.
type absent = *struct{}

// AssembleResult encodes r with its messages byte for byte.
func AssembleResult(r skald.AssembleResult) ([]byte, error) {
	messages, err := Array("messages", r.Messages)
	if err != nil {
		return nil, err
	}
	packet, err := optionalPacket(r.Packet)
	if err != nil {
		return nil, err
	}
	return Object(struct {
		skald.AssembleResult
		Messages absent `json:"messages,omitempty"`
		Packet   absent `json:"packet,omitempty"`
	}{AssembleResult: r}, Member{"messages", messages}, Member{"packet", packet})
}

// Explanation encodes x with the packet's messages byte for byte.
func Explanation(x skald.Explanation) ([]byte, error) {
	packet, err := optionalPacket(&x.Packet)
	if err != nil {
		return nil, err
	}
	return Object(struct {
		skald.Explanation
		Packet absent `json:"packet,omitempty"`
	}{Explanation: x}, Member{"packet", packet})
}

func optionalPacket(p *skald.AssembledContextPacket) (json.RawMessage, error) {
	if p == nil {
		return nil, nil
	}
	injected, err := Array("packet.injected_messages", p.InjectedMessages)
	if err != nil {
		return nil, err
	}
	return Object(struct {
		skald.AssembledContextPacket
		InjectedMessages absent `json:"injected_messages,omitempty"`
	}{AssembledContextPacket: *p}, Member{"injected_messages", injected})
}

// BootstrapResult encodes r with its cursor byte for byte.
func BootstrapResult(r skald.BootstrapResult) ([]byte, error) {
	return Object(struct {
		skald.BootstrapResult
		Cursor absent `json:"cursor,omitempty"`
	}{BootstrapResult: r}, Member{"cursor", r.Cursor})
}

// ToolAnswer encodes a with its details byte for byte.
func ToolAnswer(a skald.ToolAnswer) ([]byte, error) {
	return Object(struct {
		skald.ToolAnswer
		Details absent `json:"details,omitempty"`
	}{ToolAnswer: a}, Member{"details", a.Details})
}

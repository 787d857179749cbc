package message

import (
	"bytes"
	"encoding/json"
)

// ForModel fits a stored message to the model of the request: reasoning is replayed to the model that made it and dropped for any other or
// an unknown one, since its signature would be refused; it never becomes visible text (ASM-06). provider may be empty; with an empty model
// nothing is changed. The result is nil when nothing but reasoning was in the message.
func ForModel(raw []byte, provider, model string) json.RawMessage {
	if model == "" || !bytes.Contains(raw, []byte("thinking")) && !bytes.Contains(raw, []byte(`"reasoning"`)) {
		return raw
	}
	m, err := Parse(raw)
	if err != nil {
		return raw
	}
	return ForModelParsed(raw, m, provider, model)
}

// ForModelParsed is ForModel of a message that was read already; m stays as it is.
func ForModelParsed(raw []byte, read *Message, provider, model string) json.RawMessage {
	if model == "" {
		return raw
	}
	c := *read
	m := &c
	if m.Role != RoleAssistant || sameModel(m, provider, model) {
		return raw
	}
	var keep []Block
	for _, b := range m.Blocks {
		if b.Kind != KindThinking {
			keep = append(keep, b)
		}
	}
	if len(keep) == len(m.Blocks) {
		return raw
	}
	if m.Blocks = keep; m.Blank() {
		return nil
	}
	return rewrite(raw, m)
}

func sameModel(m *Message, provider, model string) bool {
	if m.Model == "" {
		return false
	}
	if model == m.Provider+"/"+m.Model {
		return true
	}
	return m.Model == model && (provider == "" || m.Provider == provider)
}

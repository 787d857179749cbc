package message

import (
	"bytes"
	"encoding/json"
)

// member is one key of a JSON object with its value as it was written.
type member struct {
	key   string
	value json.RawMessage
}

// object is a JSON object whose members keep their order, so that an edited message differs from the original only where it
// was edited.
type object []member

func parseObject(raw []byte) (object, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	if d, ok := tok.(json.Delim); err != nil || !ok || d != '{' {
		return nil, false
	}
	var o object
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		name, ok := key.(string)
		if !ok {
			return nil, false
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return nil, false
		}
		o = append(o, member{name, v})
	}
	return o, true
}

// get returns the last value of a key, as JSON readers do.
func (o object) get(key string) json.RawMessage {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return o[i].value
		}
	}
	return nil
}

// set returns the object with the key's value replaced, or appended.
func (o object) set(key string, value json.RawMessage) object {
	out := append(object(nil), o...)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].key == key {
			out[i].value = value
			return out
		}
	}
	return append(out, member{key, value})
}

// without returns the object without the keys.
func (o object) without(keys ...string) object {
	var out object
next:
	for _, m := range o {
		for _, k := range keys {
			if m.key == k {
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}

func (o object) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode writes JSON as the host's JavaScript does: without the escapes for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// array joins values to a JSON array.
func array(values []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(v)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// mend escapes the control characters that some writers leave raw inside strings, which JSON forbids. It is tried only after
// the bytes as they are could not be read.
func mend(raw []byte) []byte {
	const hex = "0123456789abcdef"
	var out []byte
	in := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case in && c == '\\' && i+1 < len(raw):
			out = append(out, c, raw[i+1])
			i++
			continue
		case c == '"':
			in = !in
		case c < 0x20 && in:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			continue
		}
		out = append(out, c)
	}
	return out
}

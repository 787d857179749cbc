package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// object is a JSON object that keeps the order of its members and the bytes of those values that nobody touches.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// parseObject reads an object; nothing at all is an empty one.
func parseObject(raw []byte) (object, error) {
	var o object
	if len(bytes.TrimSpace(raw)) == 0 {
		return o, nil
	}
	var compact bytes.Buffer // so that two spellings of one object compare equal
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	dec := json.NewDecoder(&compact)
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("is not a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		o = append(o, m)
	}
	return o, nil
}

func (o object) at(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

func (o object) get(name string) json.RawMessage {
	if i := o.at(name); i >= 0 {
		return o[i].value
	}
	return nil
}

// set gives a member a value, in its place or at the end; nil takes it out.
func (o object) set(name string, value json.RawMessage) object {
	i := o.at(name)
	switch {
	case i >= 0 && value == nil:
		return slices.Delete(slices.Clone(o), i, i+1)
	case i >= 0:
		o = slices.Clone(o)
		o[i].value = value
		return o
	case value == nil:
		return o
	}
	return append(slices.Clone(o), member{name, value})
}

// child is the object under a name, empty when there is none.
func (o object) child(name string) (object, error) {
	c, err := parseObject(o.get(name))
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return c, nil
}

// setChild puts an object under a name; an empty one is taken out.
func (o object) setChild(name string, c object) object {
	if len(c) == 0 {
		return o.set(name, nil)
	}
	return o.set(name, c.raw())
}

func (o object) raw() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encode(m.name)...)
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// file is the object as Claude Code writes its files: two spaces, and the end of the file as it was.
func (o object) file(before []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, o.raw(), "", "  ") // raw is valid
	if len(before) == 0 || bytes.HasSuffix(before, []byte("\n")) {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// encode is json.Marshal without the escapes for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // of strings and plain structs
	return bytes.TrimRight(b.Bytes(), "\n")
}

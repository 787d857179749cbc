package openclaw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The configuration is a person's file: an edit changes the characters it has to and leaves comments, order and layout alone.

// get is the value at a path of object keys.
func get(text []byte, path ...string) (value any, ok bool, err error) {
	n, err := parse(text)
	if err != nil {
		return nil, false, err
	}
	for _, key := range path {
		if n = n.child(key); n == nil {
			return nil, false, nil
		}
	}
	return n.value, true, nil
}

// set puts a value at a path, making the objects on the way.
func set(text []byte, path []string, value any) ([]byte, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	for i, key := range path {
		if !n.object {
			return nil, fmt.Errorf("%s is no object", name(path[:i]))
		}
		next := n.child(key)
		if next == nil {
			return insert(text, n, fmt.Sprintf("%q: ", path[i]), wrap(path[i+1:], value))
		}
		n = next
	}
	plain, err := encode(value, indentAt(text, n.start), "  ")
	if err != nil {
		return nil, err
	}
	return splice(text, n.start, n.end, plain), nil
}

// wrap is the value inside new objects for the rest of the path.
func wrap(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return value
}

// insert adds a member to an object, or an item to a list, in the layout of the others. head is what stands before the value.
func insert(text []byte, n *node, head string, value any) ([]byte, error) {
	outer := indentAt(text, n.start)
	inner, oneLine := outer+"  ", false
	if len(n.members) > 0 {
		first := n.members[0].start
		oneLine = !bytes.Contains(text[n.start:first], []byte("\n"))
		inner = indentAt(text, first)
	}
	step := "  "
	if rest, deeper := strings.CutPrefix(inner, outer); deeper && rest != "" {
		step = rest
	}
	if oneLine {
		inner = outer
	}
	plain, err := encode(value, inner, step)
	if err != nil {
		return nil, err
	}
	added := head + string(plain)
	switch {
	case len(n.members) == 0 && !n.object:
		return splice(text, n.start+1, n.start+1, []byte(added)), nil
	case len(n.members) == 0:
		return splice(text, n.start+1, n.start+1, []byte("\n"+inner+added+"\n"+outer)), nil
	case oneLine:
		added = ", " + added
	default:
		added = ",\n" + inner + added
	}
	end := n.members[len(n.members)-1].node.end
	return splice(text, end, end, []byte(added)), nil
}

// addItem appends an item to a list, making the list when there is none.
func addItem(text []byte, path []string, item any) ([]byte, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, key := range path {
		if n = n.child(key); n == nil {
			return set(text, path, []any{item})
		}
	}
	if _, list := n.value.([]any); !list {
		return nil, fmt.Errorf("%s is no list", name(path))
	}
	return insert(text, n, "", item)
}

// dropItem takes an item out of a list, wherever it stands.
func dropItem(text []byte, path []string, item any) ([]byte, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, key := range path {
		if n = n.child(key); n == nil {
			return text, nil
		}
	}
	if _, list := n.value.([]any); !list {
		return text, nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if same(n.members[i].node.value, item) {
			return dropItem(cut(text, n, i), path, item)
		}
	}
	return text, nil
}

// remove takes a key out, and is content when it is not there.
func remove(text []byte, path []string) ([]byte, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, key := range path[:len(path)-1] {
		if n = n.child(key); n == nil {
			return text, nil
		}
	}
	for i := len(n.members) - 1; i >= 0 && n.object; i-- { // every one, should the key be repeated
		if n.members[i].key == path[len(path)-1] {
			text = cut(text, n, i)
			return remove(text, path)
		}
	}
	return text, nil
}

// cut removes the i-th member with the comma that parted it from the others. Comments stay.
func cut(text []byte, n *node, i int) []byte {
	m := n.members[i]
	from, to := m.start, m.node.end
	if comma := commaAfter(text, to); comma >= 0 {
		to = comma + 1
		if i+1 < len(n.members) && blank(text[to:n.members[i+1].start]) {
			to = n.members[i+1].start
		}
		return splice(text, from, to, nil)
	}
	if i == 0 {
		return splice(text, from, to, nil)
	}
	before := n.members[i-1].node.end
	comma := commaAfter(text, before)
	if blank(text[before:comma]) && blank(text[comma+1:from]) {
		return splice(text, before, to, nil)
	}
	return splice(splice(text, from, to, nil), comma, comma+1, nil)
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// commaAfter is where the comma behind a value stands, -1 without one.
func commaAfter(text []byte, at int) int {
	p := &parser{text: string(text), at: at}
	if p.peek() == ',' {
		return p.at
	}
	return -1
}

// splice replaces a part of a text, with the line ends that the text has.
func splice(text []byte, from, to int, with []byte) []byte {
	if bytes.Contains(text, []byte("\r\n")) {
		with = bytes.ReplaceAll(with, []byte("\n"), []byte("\r\n"))
	}
	return bytes.Join([][]byte{text[:from], text[to:]}, with)
}

// indentAt is the white space that begins the line of a place.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func encode(value any, prefix, step string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, step)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// same compares two values by what they say.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errors.Join(errX, errY) == nil && bytes.Equal(x, y)
}

// name writes a path as the host's documentation does.
func name(path []string) string { return strings.Join(path, ".") }

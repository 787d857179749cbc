package openclaw

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unmarshal reads the host's configuration, which may be JSON5: comments, trailing commas, bare keys and single quotes are allowed
// there.
func Unmarshal(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err == nil {
		return nil
	}
	root, err := parse(text)
	if err != nil {
		return fmt.Errorf("cannot be read as JSON or JSON5: %w", err)
	}
	plain, err := json.Marshal(root.value)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, to)
}

// node is a value of a JSON5 text, and where it stands: text[start:end].
type node struct {
	start, end int
	value      any      // as encoding/json has it
	members    []member // of an object, in the text's order
	object     bool
}

// member is one key of an object; start is where the key begins.
type member struct {
	key   string
	start int
	node  *node
}

// child is the member of that name, the last one when it is repeated.
func (n *node) child(key string) *node {
	if !n.object {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return n.members[i].node
		}
	}
	return nil
}

// deepest is how far the host's files may nest.
const deepest = 500

type parser struct {
	text  string
	at    int
	depth int
}

// parse reads a whole text.
func parse(text []byte) (*node, error) {
	p := &parser{text: strings.TrimPrefix(string(text), "\ufeff")}
	bom := len(text) - len(p.text)
	n, err := p.parse()
	if err == nil {
		p.space()
		if p.at < len(p.text) {
			err = p.fault("text behind the end")
		}
	}
	if err != nil {
		return nil, err
	}
	n.shift(bom)
	return n, nil
}

func (n *node) shift(by int) {
	if by == 0 {
		return
	}
	n.start, n.end = n.start+by, n.end+by
	for i := range n.members {
		n.members[i].start += by
		n.members[i].node.shift(by)
	}
}

func (p *parser) fault(what string) error {
	return fmt.Errorf("line %d: %s", 1+strings.Count(p.text[:min(p.at, len(p.text))], "\n"), what)
}

// space skips white space and comments.
func (p *parser) space() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			p.at += size
		case strings.HasPrefix(rest, "//"):
			p.at += until(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			p.at += 2 + until(rest[2:], "*/") + 2
		default:
			return
		}
	}
	p.at = len(p.text)
}

func until(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i
	}
	return len(text)
}

// peek is the next byte that is no white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) parse() (*node, error) {
	c := p.peek()
	n := &node{start: p.at}
	if p.depth++; p.depth > deepest {
		return nil, p.fault("nested too deep")
	}
	var err error
	switch c {
	case 0:
		return nil, p.fault("the text ends too early")
	case '{':
		err = p.parseObject(n)
	case '[':
		err = p.parseList(n)
	case '"', '\'':
		n.value, err = p.parseString()
	default:
		n.value, err = p.parseWord()
	}
	p.depth--
	n.end = p.at
	return n, err
}

func (p *parser) parseObject(n *node) error {
	value := map[string]any{}
	n.value, n.object = value, true
	p.at++
	for {
		c := p.peek()
		if c == '}' {
			p.at++
			return nil
		}
		m := member{start: p.at}
		var err error
		if m.key, err = p.parseKey(c); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.fault("a colon is missing after " + strconv.Quote(m.key))
		}
		p.at++
		if m.node, err = p.parse(); err != nil {
			return err
		}
		n.members = append(n.members, m)
		value[m.key] = m.node.value
		if err := p.next('}'); err != nil {
			return err
		}
	}
}

func (p *parser) parseList(n *node) error {
	list := []any{}
	p.at++
	for p.peek() != ']' {
		start := p.at
		item, err := p.parse()
		if err != nil {
			return err
		}
		list = append(list, item.value)
		n.members = append(n.members, member{start: start, node: item})
		if err := p.next(']'); err != nil {
			return err
		}
	}
	p.at++
	n.value = list
	return nil
}

// next takes the comma between two items, or stops before the end.
func (p *parser) next(end byte) error {
	switch p.peek() {
	case ',':
		p.at++
		return nil
	case end:
		return nil
	}
	return p.fault("a comma or " + string(end) + " is missing")
}

func (p *parser) parseKey(c byte) (string, error) {
	if c == '"' || c == '\'' {
		return p.parseString()
	}
	key := p.word()
	if key == "" {
		return "", p.fault("a key is missing")
	}
	return key, nil
}

// word takes what stands before the next mark.
func (p *parser) word() string {
	start := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if unicode.IsSpace(r) || strings.ContainsRune(`,:{}[]"'/`, r) {
			break
		}
		p.at += size
	}
	return p.text[start:p.at]
}

func (p *parser) parseWord() (any, error) {
	w := p.word()
	switch w {
	case "true", "false":
		return w == "true", nil
	case "null":
		return nil, nil
	}
	plain := strings.TrimPrefix(w, "+")
	if number := json.Number(plain); json.Valid([]byte(plain)) && plain != "" {
		return number, nil
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil && !strings.ContainsAny(plain, "nNiI_") { // .5, 5.
		return f, nil
	}
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil && !strings.Contains(plain, "_") { // 0x1f
		return i, nil
	}
	return nil, p.fault(strconv.Quote(w) + " is no value")
}

// escapes of JSON5 that stand for one character.
var escapes = map[byte]string{'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '0': "\x00", '\n': ""}

func (p *parser) parseString() (string, error) {
	quote := p.text[p.at]
	var out strings.Builder
	for p.at++; p.at < len(p.text); {
		c := p.text[p.at]
		switch {
		case c == quote:
			p.at++
			return out.String(), nil
		case c == '\\':
			if err := p.escape(&out); err != nil {
				return "", err
			}
		default:
			out.WriteByte(c)
			p.at++
		}
	}
	return "", p.fault("a string has no end")
}

func (p *parser) escape(out *strings.Builder) error {
	rest := p.text[p.at:]
	if len(rest) < 2 {
		return p.fault("a string has no end")
	}
	switch text, known := escapes[rest[1]]; {
	case known:
		out.WriteString(text)
		p.at += 2
	case rest[1] == '\r': // a line that goes on
		p.at += 2 + len(rest[2:]) - len(strings.TrimPrefix(rest[2:], "\n"))
	case rest[1] == 'x':
		return p.hex(out, rest, 4, `"\u00`)
	case rest[1] == 'u':
		size := 6
		if len(rest) >= 12 && rest[6:8] == `\u` { // perhaps a pair of surrogates
			var pair string
			if json.Unmarshal([]byte(`"`+rest[:12]+`"`), &pair) == nil && utf8.RuneCountInString(pair) == 1 {
				size = 12
			}
		}
		return p.hex(out, rest, size, `"\u`)
	default:
		out.WriteByte(rest[1])
		p.at += 2
	}
	return nil
}

// hex takes an escape of size bytes through encoding/json.
func (p *parser) hex(out *strings.Builder, rest string, size int, head string) error {
	var text string
	if len(rest) < size || json.Unmarshal([]byte(head+rest[2:size]+`"`), &text) != nil {
		return p.fault("a bad escape in a string")
	}
	out.WriteString(text)
	p.at += size
	return nil
}

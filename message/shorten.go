package message

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Shorten cuts the long texts of a message to head and tail around a line that says how many characters are missing and where they
// are, until the message has at most maxTokens. Ids, order and structure stay. In this order it gives up: the host's details of a
// result, texts, string arguments of calls, images, reasoning. A message that is short enough comes back byte for byte; one that
// cannot be made short enough comes back as short as it gets.
func Shorten(raw []byte, maxTokens int, uri string) json.RawMessage {
	if Tokens(raw) <= maxTokens {
		return raw
	}
	m, err := Parse(raw)
	if err != nil {
		return raw
	}
	if o, ok := parseObject(raw); ok && o.get("details") != nil {
		if raw = o.without("details").json(); Tokens(raw) <= maxTokens {
			return raw
		}
	}
	best := json.RawMessage(raw)
	for _, step := range []func([]Block) []Block{nil, dropImages, dropThinking} {
		if step != nil {
			m.Blocks = step(m.Blocks)
			raw = rewriteContent(raw, m) // so that what was dropped is not counted any more
		}
		for allowed, try := maxTokens, 0; try < 8; try++ {
			var least bool
			best, least = cutTexts(raw, m, allowed, uri)
			over := Tokens(best) - maxTokens
			if over <= 0 {
				return best
			}
			if least {
				break // the texts are as short as they get
			}
			allowed -= tighter(allowed, over, try)
		}
	}
	return best
}

// tighter is how much less to allow after a try that was over: what it was over at first, then a good part. A text full of quotes and
// line ends takes far more than its characters, and cutting it by little changes nothing.
func tighter(allowed, over, try int) int {
	step := over + over/4 + 1
	if try > 0 {
		step = max(step, allowed/4)
	}
	return step
}

// cutTexts cuts texts so that the message would have the wanted number of tokens if escapes cost nothing; least is true
// when there is no room for texts at all.
func cutTexts(raw []byte, m *Message, wanted int, uri string) (short json.RawMessage, least bool) {
	texts := stringsOf(m)
	fixed := Tokens(raw)
	for _, s := range texts {
		fixed -= Tokens(encode(s))
	}
	limit := waterLevel(texts, max(0, wanted-fixed))
	c := *m
	c.Blocks = make([]Block, len(m.Blocks))
	for i, b := range m.Blocks {
		c.Blocks[i] = b.cut(limit, uri)
	}
	return rewriteContent(raw, &c), wanted <= fixed
}

// rewriteContent is rewrite for any role, with content as a list.
func rewriteContent(raw []byte, m *Message) json.RawMessage {
	o, ok := parseObject(raw)
	if !ok {
		return raw
	}
	if len(m.Blocks) == 1 && m.Blocks[0].Raw == nil && m.Blocks[0].Kind == KindText {
		return o.set("content", encode(m.Blocks[0].Text)).json()
	}
	return o.set("content", blocksJSON(m.Blocks)).json()
}

// stringsOf lists what can be cut.
func stringsOf(m *Message) []string {
	var out []string
	for _, b := range m.Blocks {
		switch b.Kind {
		case KindText:
			out = append(out, b.Text)
		case KindToolCall:
			o, _ := parseObject(b.Arguments)
			for _, a := range o {
				if s := str(a.value); s != "" {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// waterLevel is the largest limit per text, in tokens, with which all texts together have at most total.
func waterLevel(texts []string, total int) int {
	sizes := make([]int, len(texts))
	for i, s := range texts {
		sizes[i] = Tokens(encode(s))
	}
	sort.Ints(sizes)
	for i, n := range sizes {
		if share := total / (len(sizes) - i); n > share {
			return share
		}
		total -= n
	}
	return total
}

func (b Block) cut(limit int, uri string) Block {
	switch b.Kind {
	case KindText:
		if s := HeadTail(b.Text, limit, uri); s != b.Text {
			b.Text = s
			if b.Raw != nil {
				b.Raw = textBlock(s)
			}
		}
	case KindToolCall:
		o, ok := parseObject(b.Arguments)
		changed := false
		for i, a := range o {
			if s := str(a.value); s != "" {
				if short := HeadTail(s, limit, uri); short != s {
					o[i].value, changed = encode(short), true
				}
			}
		}
		if ok && changed {
			b.Arguments, b.Foreign = o.json(), true
		}
	}
	return b
}

// HeadTail cuts a text to about limit tokens: its head, a line that says what is missing, its tail.
func HeadTail(text string, limit int, uri string) string {
	if TextTokens(text) <= limit {
		return text
	}
	marker := func(n int) string {
		where := ""
		if uri != "" {
			where = "; whole text: " + uri
		}
		return fmt.Sprintf("\n[… %d characters omitted%s]\n", n, where)
	}
	room := limit*4 - len(marker(utf8.RuneCountInString(text)))
	if room <= 0 {
		return strings.TrimSpace(marker(utf8.RuneCountInString(text)))
	}
	head := prefix(text, room*3/5)
	tail := suffix(text[len(head):], room-room*3/5)
	left := text[len(head) : len(text)-len(tail)]
	if left == "" {
		return text
	}
	return head + marker(utf8.RuneCountInString(left)) + tail
}

// prefix is the longest start of s that costs at most n quarters of a token.
func prefix(s string, n int) string {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n -= weight(r); n < 0 {
			return s[:i]
		}
		i += size
	}
	return s
}

func suffix(s string, n int) string {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= weight(r); n < 0 {
			return s[i:]
		}
		i -= size
	}
	return s
}

func dropImages(list []Block) []Block {
	var out []Block
	for _, b := range list {
		if b.Kind == KindImage {
			b = Block{Kind: KindText, Text: "[image " + b.Mime + " omitted]", Foreign: true, Raw: json.RawMessage("{}")}
		}
		out = append(out, b)
	}
	return out
}

func dropThinking(list []Block) []Block {
	var out []Block
	for _, b := range list {
		if b.Kind != KindThinking {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

package message

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"sort"
	"strconv"
)

// MatchKey identifies a message across the host's views of it (I2): hex of 16 bytes over role, timestamp, canonical content and tool
// name. Key order, white space, the host's marks, usage, model, thinking and the spelling of tool ids do not matter.
func MatchKey(raw []byte) string { return matchKey(raw, true) }

// ContentKey is MatchKey without the timestamp.
func ContentKey(raw []byte) string { return matchKey(raw, false) }

// ParseKey is Parse and MatchKey in one: m is nil when raw is no message.
func ParseKey(raw []byte) (m *Message, key string) {
	m, err := Parse(raw)
	if exact := lossless(raw); err == nil && bytes.Equal(exact, raw) {
		return m, keyOf(m, true)
	}
	return m, matchKey(raw, true)
}

func matchKey(raw []byte, timed bool) string {
	m, err := Parse(lossless(raw))
	if err != nil {
		h := sha256.New()
		h.Write(raw)
		return sum(h)
	}
	return keyOf(m, timed)
}

func keyOf(m *Message, timed bool) string {
	h := sha256.New()
	put(h, m.Role)
	if timed && !m.Timestamp.IsZero() {
		put(h, strconv.FormatInt(m.Timestamp.UnixMilli(), 10))
	} else {
		put(h, "")
	}
	put(h, ToolID(m.ToolCallID))
	put(h, m.ToolName)
	put(h, strconv.FormatBool(m.IsError))
	for _, s := range []string{m.Summary, m.Command, m.Output, m.CustomType} {
		put(h, s)
	}
	putBlocks(h, m.Blocks)
	return sum(h)
}

func putBlocks(h io.Writer, list []Block) {
	for _, b := range list {
		if b.Kind == KindThinking {
			continue // the assembled view leaves it out of past turns
		}
		put(h, string(b.Kind))
		switch b.Kind {
		case KindText:
			put(h, b.Text)
		case KindToolCall:
			put(h, ToolID(b.ID))
			put(h, b.Name)
			put(h, canonical(b.Arguments))
		case KindToolResult:
			put(h, ToolID(b.ID))
			put(h, strconv.Itoa(len(b.Result)))
			putBlocks(h, b.Result)
		case KindImage:
			put(h, b.Mime)
			put(h, b.Data)
		default:
			put(h, canonical(b.Raw))
		}
	}
}

// put writes a string with its length, so that two different lists of strings never look the same.
func put(h io.Writer, s string) {
	_, _ = io.WriteString(h, strconv.Itoa(len(s))+":"+s)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// canonical writes JSON with sorted keys and numbers as they stand.
func canonical(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	var b bytes.Buffer
	writeCanonical(&b, v)
	return b.String()
}

func writeCanonical(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		b.WriteByte('{')
		for _, k := range keys {
			b.Write(encode(k))
			b.WriteByte(':')
			writeCanonical(b, v[k])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			writeCanonical(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		b.Write(encode(v))
	}
}

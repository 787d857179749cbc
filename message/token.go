package message

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"
)

// ImageTokens is what an image costs, whatever its size: its base64 data is not counted.
const ImageTokens = 1600

// Tokens counts a serialised message as the host does, so that the numbers agree: per code point 0.25, CJK (kana, hangul, full-width
// and CJK punctuation too) 1.5, other astral 2, the sum rounded up; an image a flat ImageTokens (TOK-02, TOK-05).
func Tokens(raw []byte) int {
	q := quarters(raw)
	if bytes.Contains(raw, []byte(`image`)) {
		q += imageQuarters(raw)
	}
	return (q + 3) / 4
}

// TextTokens counts a plain text.
func TextTokens(s string) int {
	q := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			q++
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		q += weight(r)
		i += n
	}
	return (q + 3) / 4
}

// weight is the cost of a code point in quarters of a token.
func weight(r rune) int {
	switch {
	case r < 0x2E80:
		return 1
	case r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7AF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFFEF:
		return 6
	case r > 0xFFFF:
		return 8
	}
	return 1
}

// quarters counts serialised JSON in quarters of a token. Escapes of the form \uXXXX count as the character they stand for, unless
// JSON cannot write it otherwise.
func quarters(raw []byte) int {
	const high, slash, low = 0x8080808080808080, 0x5c5c5c5c5c5c5c5c, 0x0101010101010101
	q, i := 0, 0
	for i < len(raw) {
		if i+8 <= len(raw) {
			v := binary.LittleEndian.Uint64(raw[i:])
			x := v ^ slash
			if v&high == 0 && (x-low)&^x&high == 0 {
				q, i = q+8, i+8
				continue
			}
		}
		switch c := raw[i]; {
		case c == '\\':
			n, w := escape(raw[i:])
			q, i = q+w, i+n
		case c < utf8.RuneSelf:
			q, i = q+1, i+1
		default:
			r, n := utf8.DecodeRune(raw[i:])
			q, i = q+weight(r), i+n
		}
	}
	return q
}

// escape returns the length and the cost of the escape at the start of raw.
func escape(raw []byte) (n, w int) {
	if len(raw) < 6 || raw[1] != 'u' {
		return min(2, len(raw)), min(2, len(raw))
	}
	r, ok := hex4(raw[2:])
	switch {
	case !ok:
		return 2, 2
	case r < 0x20:
		return 6, 6
	case r >= 0xD800 && r < 0xDC00 && len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u':
		if lo, ok := hex4(raw[8:]); ok && lo >= 0xDC00 && lo < 0xE000 {
			return 12, weight((r-0xD800)<<10 + lo - 0xDC00 + 0x10000)
		}
		return 6, 6
	case r >= 0xD800 && r < 0xE000:
		return 6, 6
	}
	return 6, weight(r)
}

func hex4(b []byte) (rune, bool) {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// imageQuarters is the correction for the images of a message: their price, less their data.
func imageQuarters(raw []byte) int {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		return 0
	}
	return imagesOf(blocks(f["content"]))
}

func imagesOf(list []Block) int {
	q := 0
	for _, b := range list {
		if b.Kind == KindImage {
			q += ImageTokens*4 - quarters([]byte(b.Data))
		}
		q += imagesOf(b.Result)
	}
	return q
}

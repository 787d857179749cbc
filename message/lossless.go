package message

import (
	"bytes"
	"unicode/utf8"
)

// lossless spells out what Go's JSON reader would fold into U+FFFD (broken surrogate escapes, invalid UTF-8), so that two messages
// that differ only there keep different keys. Ordinary messages come back as they are.
func lossless(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) && utf8.Valid(raw) {
		return raw
	}
	const digits = "0123456789abcdef"
	out := make([]byte, 0, len(raw)+64)
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			n, _ := escape(raw[i:])
			if r, ok := surrogate(raw[i:]); ok && n == 6 {
				out = append(out, `\\u`...)
				for s := 12; s >= 0; s -= 4 {
					out = append(out, digits[r>>s&15])
				}
			} else {
				out = append(out, raw[i:i+n]...)
			}
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && n == 1 {
				out = append(out, '\\', '\\', 'x', digits[c>>4], digits[c&15])
			} else {
				out = append(out, raw[i:i+n]...)
			}
			i += n
		}
	}
	return out
}

// surrogate reads an escape of half a surrogate pair.
func surrogate(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[1] != 'u' {
		return 0, false
	}
	r, ok := hex4(raw[2:])
	return r, ok && r >= 0xD800 && r < 0xE000
}

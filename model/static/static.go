// Package static tells what a text means as a short vector, out of a table of word vectors that is part of the binary: no service, no
// network, no cgo, a few microseconds a sentence. Texts that say similar things in other words get vectors that point the same way.
// README.md tells what the table was made of.
package static

import (
	_ "embed"
	"math"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Dim is how many numbers a vector has.
const Dim = 256

//go:embed table.bin.zst
var packed []byte

var load = sync.OnceValue(func() *table { return unpack(packed) })

// Embed returns the meaning of a text: Dim numbers, the largest of them 127 or -127. Only the direction counts. It is nil for a text of
// which the table knows no word. The first call unpacks the table (some 20 MB of memory that stay, about 60 ms).
func Embed(text string) []int8 {
	var sum [Dim]float32
	t, known := load(), false
	words(text, func(w string) {
		if row := t.find(w); row >= 0 {
			known = true
			t.add(row, &sum)
		}
	}, t)
	if !known {
		return nil
	}
	return quantised(&sum)
}

// quantised scales the largest number to 127.
func quantised(sum *[Dim]float32) []int8 {
	top := float32(0)
	for _, v := range sum {
		top = max(top, v, -v)
	}
	if top == 0 {
		return nil
	}
	out := make([]int8, Dim)
	for i, v := range sum {
		out[i] = int8(math.RoundToEven(float64(v / top * 127)))
	}
	return out
}

// Cosine is the cosine of the angle between two vectors, 0 when one is missing.
func Cosine(a, b []int8) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	var ab, aa, bb int32
	for i, x := range a {
		y := int32(b[i])
		ab, aa, bb = ab+int32(x)*y, aa+int32(x)*int32(x), bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(aa)*float64(bb))
}

// words calls fn with each word of a text as the table spells it: runs of Latin letters in lower case, and in runs of Han characters the
// longest words that the table knows, from left to right. What joins letters (an apostrophe, a hyphen, a dot) parts words.
func words(text string, fn func(string), t *table) {
	if !ascii(text) {
		text = norm.NFKC.String(text)
	}
	var buf [maxWord]byte
	n, long := 0, false
	flush := func() {
		if n > 0 && !long {
			fn(string(buf[:n]))
		}
		n, long = 0, false
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			if n < maxWord {
				buf[n] = c | 0x20
				n++
			} else {
				long = true
			}
			i++
		case c < utf8.RuneSelf:
			flush()
			i++
		default:
			flush()
			i += hanWord(text[i:], fn, t)
		}
	}
	flush()
}

// maxWord is the longest word in bytes.
const maxWord = 24

// hanWord reports the longest word of the table at the start of s and returns its length; of what the table has not, one character.
func hanWord(s string, fn func(string), t *table) int {
	_, first := utf8.DecodeRuneInString(s)
	best := 0
	for end := first; end <= min(len(s), maxHan*3); {
		if t.find(s[:end]) >= 0 {
			best = end
		}
		if end == len(s) {
			break
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		if !han(r) {
			break
		}
		end += size
	}
	if best == 0 {
		return first
	}
	fn(s[:best])
	return best
}

// maxHan is the longest Chinese word of the table, in characters.
const maxHan = 6

func han(r rune) bool { return r >= 0x4E00 && r <= 0x9FFF }

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

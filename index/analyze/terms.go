package analyze

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxTerm is the longest term in bytes; longer ones are replaced by a hash.
const MaxTerm = 64

// Terms lists the index terms of a text, in order and with repeats.
func Terms(text string) []string {
	s := &indexSink{terms: make([]string, 0, len(text)/5+4)}
	scan(text, s)
	return s.terms
}

// sink receives what the scanner finds.
type sink interface {
	// word is one word or identifier, with its parts when it has several. lower case, stemmed.
	word(term string, parts []string)
	// run is a run of characters of a script without spaces.
	run(chars []rune)
}

type indexSink struct{ terms []string }

func (s *indexSink) word(term string, parts []string) {
	s.terms = append(s.terms, term)
	s.terms = append(s.terms, parts...)
}

func (s *indexSink) run(chars []rune) {
	for i, r := range chars {
		s.terms = append(s.terms, string(r))
		if i+1 < len(chars) {
			s.terms = append(s.terms, string(chars[i:i+2]))
		}
	}
}

// scan cuts a text into chunks (runs of letters, digits and joiners) and runs of characters.
func scan(text string, out sink) {
	if ascii(text) {
		scanASCII(text, out)
		return
	}
	text = norm.NFKC.String(strings.ReplaceAll(text, "’", "'"))
	start := -1
	var run []rune
	flush := func(end int) {
		if start >= 0 {
			chunks(text[start:end], out)
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case spaceless(r):
			flush(i)
			run = append(run, r)
			continue
		case wordRune(r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
		if len(run) > 0 {
			out.run(run)
			run = run[:0]
		}
	}
	flush(len(text))
	if len(run) > 0 {
		out.run(run)
	}
}

func scanASCII(text string, out sink) {
	start := -1
	for i := 0; i < len(text); i++ {
		if class[text[i]] != 0 {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			chunks(text[start:i], out)
			start = -1
		}
	}
	if start >= 0 {
		chunks(text[start:], out)
	}
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Classes of ASCII bytes. Joiners hold the parts of an identifier together.
const (
	lower = 1 + iota
	upper
	digit
	joiner
)

var class = func() (c [256]uint8) {
	for b := 'a'; b <= 'z'; b++ {
		c[b], c[b-32] = lower, upper
	}
	for b := '0'; b <= '9'; b++ {
		c[b] = digit
	}
	for _, b := range `_-./:'@\+#` {
		c[b] = joiner
	}
	return c
}()

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return class[r] != 0
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// spaceless reports whether the script of r is written without spaces (or, as hangul, with endings glued to words).
func spaceless(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, r >= 0x1000 && r <= 0x109F, r >= 0x1780 && r <= 0x17FF:
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r < 0x1100:
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !unicode.IsPunct(r) || r == 'ー'
}

// bounded replaces a term that is too long by a hash, the same everywhere.
func bounded(term string) string {
	if len(term) <= MaxTerm {
		return term
	}
	sum := sha256.Sum256([]byte(term))
	return "~" + hex.EncodeToString(sum[:12])
}

package when

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word, number or Han character of a text.
type token struct {
	text       string // in lower case; of a number its digits
	num        int    // of a number, in digits or Han numerals; -1: none
	start, end int    // bytes of the text
	joined     bool   // nothing stands between it and the one before
}

// tokens cuts a text. Endings of ordinal numbers belong to the number: "7th".
func tokens(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		switch {
		case isDigit(r):
			for end < len(text) && isDigit(rune(text[end])) {
				end++
			}
			t := token{text: text[i:end], num: number(text[i:end]), start: i, end: end}
			if rest := strings.ToLower(text[end:min(len(text), end+2)]); ordinals[rest] && !letterAt(text, end+2) {
				t.end += 2
			}
			out, end = append(out, t), t.end
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			for end < len(text) && text[end] < utf8.RuneSelf && unicode.IsLetter(rune(text[end])) {
				end++
			}
			word := strings.ToLower(text[i:end])
			n, ok := counts[word]
			if !ok {
				n = -1
			}
			out = append(out, token{text: word, num: n, start: i, end: end})
		case unicode.Is(unicode.Han, r):
			out = append(out, token{text: text[i:end], num: -1, start: i, end: end})
		}
		if n := len(out); n > 1 && out[n-1].start == i {
			out[n-1].joined = out[n-2].end == i
		}
		i = end
	}
	return out
}

var (
	ordinals = map[string]bool{"st": true, "nd": true, "rd": true, "th": true}
	counts   = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
		"ten": 10, "couple": 2, "few": 3, "several": 3}
	hanDigits = map[string]int{"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "几": 3}
)

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func letterAt(s string, i int) bool {
	return i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || isDigit(rune(s[i])))
}

// number reads digits; -1 when there are too many to be a part of a date.
func number(s string) int {
	if len(s) > 4 {
		return -1
	}
	n := 0
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}

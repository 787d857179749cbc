package message

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a passage of a text: byte offsets on rune boundaries.
type Span struct{ Start, End int }

// PassageSize is the usual size of a passage, in characters.
const PassageSize = 700

// Passages cuts a text into passages of about size characters (a CJK character counts as three, since it says as much), at the ends of
// sentences where there are some. Neighbours overlap by a short sentence. A text up to a third longer than size is one passage.
func Passages(text string, size int) []Span {
	if size <= 0 {
		size = PassageSize
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if width(text) <= size+size/3 {
		return []Span{{0, len(text)}}
	}
	pieces := sentences(text, size)
	var out []Span
	start, w := 0, 0
	for i, p := range pieces {
		pw := width(text[p.Start:p.End])
		if w > 0 && w+pw > size {
			out = append(out, Span{pieces[start].Start, pieces[i-1].End})
			start, w = i, 0
			if last := width(text[pieces[i-1].Start:pieces[i-1].End]); last <= size/4 && last+pw <= size && i-1 > 0 {
				start, w = i-1, last
			}
		}
		w += pw
	}
	return append(out, Span{pieces[start].Start, pieces[len(pieces)-1].End})
}

// sentences cuts a text without gaps; no piece is wider than size.
func sentences(text string, size int) []Span {
	var out []Span
	start, w, space := 0, 0, -1
	cut := func(end int) {
		out = append(out, Span{start, end})
		start, w, space = end, 0, -1
	}
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n := utf8.DecodeRuneInString(text[i:])
			end = i + n
		}
		if w += runeWidth(r); w > size {
			if space > start {
				rest := width(text[space:end])
				cut(space)
				w = rest
			} else if i > start {
				cut(i)
				w = runeWidth(r)
			}
		}
		if unicode.IsSpace(r) {
			space = end
		}
		if sentenceEnd(text, r, end) {
			cut(end)
		}
	}
	if start < len(text) {
		out = append(out, Span{start, len(text)})
	}
	return out
}

// sentenceEnd reports whether a sentence ends with r, which ends at end.
func sentenceEnd(text string, r rune, end int) bool {
	switch r {
	case '\n', '。', '！', '？', '；':
		return true
	case ' ':
		prev := end - 2
		return prev >= 0 && (text[prev] == '.' || text[prev] == '!' || text[prev] == '?')
	}
	return false
}

func width(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

func runeWidth(r rune) int {
	if weight(r) == 6 {
		return 3
	}
	return 1
}

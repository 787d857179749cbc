package sentence

import (
	"strings"
	"unicode/utf8"
)

// Cues is a list of words and phrases in lower case. An English cue matches whole words, a Chinese one anywhere; a cue that
// begins with ^ matches at the sentence's start only.
type Cues []string

// In reports whether any cue occurs in lower, the sentence in lower case.
func (c Cues) In(lower string) bool { return c.Find(lower) >= 0 }

// Find is the byte offset behind the first cue of the list that occurs, or -1.
func (c Cues) Find(lower string) int {
	for _, cue := range c {
		if start, ok := strings.CutPrefix(cue, "^"); ok {
			s := strings.TrimLeft(lower, " -*#>[]\"'“「")
			if strings.HasPrefix(s, start) && border(s, len(start), start) {
				return len(lower) - len(s) + len(start)
			}
			continue
		}
		if i := index(lower, cue); i >= 0 {
			return i + len(cue)
		}
	}
	return -1
}

// index is strings.Index with word borders for cues of ASCII letters.
func index(s, cue string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], cue)
		if i < 0 {
			return -1
		}
		i += from
		if (i == 0 || !ascii(cue[0]) || !ascii(s[i-1])) && border(s, i+len(cue), cue) {
			return i
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		from = i + n
	}
}

func border(s string, end int, cue string) bool {
	return end >= len(s) || !ascii(cue[len(cue)-1]) || !ascii(s[end])
}

func ascii(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' }

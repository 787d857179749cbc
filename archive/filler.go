package archive

import (
	"strings"
	"unicode"

	"github.com/skald-engine/skald/archive/sentence"
)

// filler reports whether a sentence says nothing that is worth a line.
func filler(s, lower string, f map[string]float64) bool {
	heavy := 0.0
	for _, w := range f {
		heavy += w
	}
	if sentence.Letters(s) < 3 || heavy == 0 || strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return true
	}
	return cueGreeting.In(lower) && heavy < 1
}

package engine

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// purgedRun is how many words in a row of a purged text may stand nowhere any more.
const purgedRun = 8

// wordRuns knows all runs of purgedRun words of some texts; a shorter text is one run. A Han character is a word.
type wordRuns struct {
	seed maphash.Seed
	runs map[uint64]bool
}

func newRuns() wordRuns { return wordRuns{maphash.MakeSeed(), map[uint64]bool{}} }

func (w wordRuns) add(text string) {
	for r := range w.of(text) {
		w.runs[r] = true
	}
}

// in reports whether a text holds one of the runs.
func (w wordRuns) in(text string) bool {
	for r := range w.of(text) {
		if w.runs[r] {
			return true
		}
	}
	return false
}

func (w wordRuns) of(text string) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		list := runWords(text)
		for i := 0; i+purgedRun <= len(list); i++ {
			if !yield(maphash.String(w.seed, strings.Join(list[i:i+purgedRun], " "))) {
				return
			}
		}
	}
}

// runWords cuts a text, or JSON, into words in lower case.
func runWords(text string) (list []string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			list = append(list, b.String())
			b.Reset()
		}
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush()
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return list
}

package analyze

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// The stemmer costs more than all the rest, and texts repeat their words: a bounded table remembers stems. Every slot is replaced as a
// whole, so that readers need no lock.
type stemmed struct{ word, stem string }

var (
	memo [1 << 15]atomic.Pointer[stemmed]
	seed = maphash.MakeSeed()
)

// stem lower-cases a word and cuts its English endings.
func stem(s string) string {
	slot := &memo[maphash.String(seed, s)&(1<<15-1)]
	if e := slot.Load(); e != nil && e.word == s {
		return e.stem
	}
	word := strings.ToLower(s)
	out := bounded(word)
	if english3(word) {
		env := snowballstem.NewEnv(word)
		english.Stem(env)
		out = strings.Clone(env.Current())
	}
	if len(s) <= MaxTerm {
		slot.Store(&stemmed{strings.Clone(s), out})
	}
	return out
}

// english3 reports whether the stemmer may touch a word: three to 24 letters of ASCII.
func english3(s string) bool {
	if len(s) < 3 || len(s) > 24 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if class[s[i]] != lower {
			return false
		}
	}
	return true
}

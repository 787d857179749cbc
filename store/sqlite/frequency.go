package sqlite

import (
	"strings"
	"sync"
	"sync/atomic"
)

// frequencies remembers how many documents hold a token. FTS5 has to walk all postings of a token to count them, which for a
// frequent word takes longer than the search itself. This process alone writes, so it keeps what it remembers up to date: a
// commit adds to the tokens that are known. Terms of deleted documents cannot be told from the index; after more than 2 % were
// deleted everything is forgotten. A count may thus be off by about that.
type frequencies struct {
	generation atomic.Int64 // odd while a commit is under way; changes with every commit
	mu         sync.RWMutex
	known      map[string]int64
	docs       int64 // documents that were added or counted since the last reset, for the 2 %
	deleted    int64
}

// maxKnown bounds the memory: about 10 MB.
const maxKnown = 100_000

func (f *frequencies) get(token string) (int64, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, ok := f.known[token]
	return n, ok
}

// put keeps a count made by a view that began in the given generation. A commit since then may have added to it unseen: for a
// frequent token that does not matter.
func (f *frequencies) put(token string, n, generation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n < 1000 && (generation&1 == 1 || generation != f.generation.Load()) {
		return
	}
	if f.known == nil || len(f.known) >= maxKnown {
		f.known = map[string]int64{}
	}
	f.known[token] = n
}

func (f *frequencies) commitBegins() { f.generation.Add(1) }

// commitEnds takes over what a group has changed.
func (f *frequencies) commitEnds(g group, committed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.generation.Add(1)
	if !committed {
		return
	}
	for _, e := range g.entries {
		for token := range strings.SplitSeq(e.tokens, " ") {
			if n, ok := f.known[token]; ok {
				f.known[token] = n + 1
			}
		}
	}
	f.docs = max(f.docs, g.docs)
	if f.deleted += g.deleted; f.deleted*50 > f.docs {
		f.known, f.deleted, f.docs = nil, 0, 0
	}
}

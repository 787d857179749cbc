package scripted

import (
	"crypto/sha256"
	"math"
)

// lookback is how many blocks before a mark Anthropic searches for an entry.
const lookback = 20

// promptCache simulates a provider's prefix cache. Entries never expire.
type promptCache struct {
	seen map[[32]byte]bool
}

// use looks a prompt up and stores it. It returns the tokens that were read
// from the cache and (Anthropic) those written to it. OpenAI reads the longest
// prefix of whole messages that an earlier request had; Anthropic reads and
// writes only at blocks marked with cache_control.
func (p *promptCache) use(api API, model string, units []unit) (read, written int) {
	hashes := make([][32]byte, len(units))
	tokens := make([]int, len(units))
	sum, total := sha256.Sum256([]byte(model)), 0.0
	for i, u := range units {
		piece := sha256.Sum256(u.canonical)
		sum = sha256.Sum256(append(sum[:], piece[:]...))
		total += u.tokens
		hashes[i], tokens[i] = sum, int(math.Ceil(total))
	}
	if api == OpenAI {
		for i := len(units) - 1; i >= 0 && read == 0; i-- {
			if p.seen[hashes[i]] {
				read = tokens[i]
			}
		}
		for _, h := range hashes {
			p.seen[h] = true
		}
		return read, 0
	}
	last := -1
	for i, u := range units {
		if !u.marked {
			continue
		}
		last = i
		for j := i; j >= 0 && j > i-lookback; j-- {
			if p.seen[hashes[j]] {
				read = max(read, tokens[j])
				break
			}
		}
	}
	for i, u := range units {
		if u.marked {
			p.seen[hashes[i]] = true
		}
	}
	if last >= 0 {
		written = tokens[last] - read
	}
	return read, written
}

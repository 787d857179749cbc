package near

import "math"

// Above coarseFrom vectors only some are scored: those that would be nearest if of each of their numbers only the sign was known, which takes
// an eighth of the time to tell. They are coarseShare times as many as are asked for. The mean and the deviation are those of about sampleSize
// vectors, drawn by their ids: what comes out hangs on the vectors and their ids alone, not on the order in which they were put.
const (
	coarseFrom  = 40_000
	coarseShare = 16
	sampleSize  = 4096

	scatter = 0x9E3779B97F4A7C15 // times an id: a number anywhere
)

// signBytes is how many bytes the signs of a vector take.
func signBytes(dim int) int { return (dim + 7) / 8 }

func appendSigns(list []uint8, v []int8) []uint8 {
	for from := 0; from < len(v); from += 8 {
		var b uint8
		for i, x := range v[from:min(len(v), from+8)] {
			b |= uint8(x) >> 7 << i
		}
		list = append(list, b)
	}
	return list
}

func (f *Flat) signsAt(i int) []uint8 {
	n := signBytes(f.dim)
	return f.signs[i*n : (i+1)*n]
}

// size is how many vectors of one length there are.
func size(sets []*Flat, dim int) (n int) {
	for _, f := range sets {
		if f.dim == dim {
			n += len(f.ids)
		}
	}
	return n
}

// coarse is a Scan that scores some.
func coarse(sets []*Flat, q []int8, limit int) Found {
	table := signTable(q)
	guesses := make([][]int32, len(sets))
	n := 0
	for k, f := range sets {
		if f.dim == len(q) {
			guesses[k] = f.guess(table)
			n += len(f.ids)
		}
	}
	least := leastGuess(guesses, q, coarseShare*limit)
	drawnBelow := math.MaxUint64 / uint64(max(1, n/sampleSize))
	var near, sample scan
	own := float64(inverse(q))
	for k, f := range sets {
		for i, g := range guesses[k] {
			close, drawn := g >= least, uint64(f.ids[i])*scatter <= drawnBelow
			if !close && !drawn {
				continue
			}
			score := float64(dot(f.at(i), q)) * float64(f.scale[i]) * own
			if close {
				near.add(f.ids[i], score)
			}
			if drawn {
				sample.add(f.ids[i], score)
			}
		}
	}
	out := Found{Hits: near.best(limit), Docs: int64(n)}
	if len(sample.hits) == 0 {
		sample = near
	}
	out.Mean, out.Deviation = sample.spread()
	return out
}

// signTable holds, for each eight numbers of a query and each pattern of eight signs, their product.
func signTable(q []int8) [][256]int32 {
	out := make([][256]int32, signBytes(len(q)))
	for i, x := range q {
		for pattern := range 256 {
			if pattern>>(i%8)&1 == 1 {
				out[i/8][pattern] -= int32(x)
			} else {
				out[i/8][pattern] += int32(x)
			}
		}
	}
	return out
}

// guess is the product of the query with the signs of each vector.
func (f *Flat) guess(table [][256]int32) []int32 {
	out := make([]int32, len(f.ids))
	n := len(table)
	for i := range out {
		var sum int32
		for k, b := range f.signs[i*n : (i+1)*n] {
			sum += table[k][b]
		}
		out[i] = sum
	}
	return out
}

// leastGuess is the value that at least so many guesses reach.
func leastGuess(guesses [][]int32, q []int8, limit int) int32 {
	most := int32(0)
	for _, x := range q {
		most += max(int32(x), -int32(x))
	}
	count := make([]int, 2*most+1)
	for _, list := range guesses {
		for _, g := range list {
			count[g+most]++
		}
	}
	at, sum := len(count)-1, 0
	for ; at > 0; at-- {
		if sum += count[at]; sum >= limit {
			break
		}
	}
	return int32(at) - most
}

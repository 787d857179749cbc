// Package near finds the vectors that point where a given one does, by looking at all of them.
package near

import (
	"cmp"
	"math"
	"slices"

	"github.com/skald-engine/skald"
)

// Flat is a set of vectors, one below the other in memory: Dim+13 bytes each. The zero value is empty.
type Flat struct {
	dim   int
	ids   []int64 // ascending, so that equal scores have one order
	kinds []skald.DocKind
	scale []float32 // one over the length of the vector; 0 marks a removed one
	data  []int8
	gone  int
}

// Put adds a vector. Ids grow; one that is there already, an empty vector and one of another length than the others are passed over.
func (f *Flat) Put(id int64, kind skald.DocKind, v []int8) {
	if n := len(f.ids); len(v) == 0 || n > 0 && (id <= f.ids[n-1] || len(v) != f.dim) {
		return
	}
	f.dim = len(v)
	f.ids, f.kinds, f.data = append(f.ids, id), append(f.kinds, kind), append(f.data, v...)
	f.scale = append(f.scale, inverse(v))
}

// Delete takes a vector out. When a quarter is gone the rest closes up.
func (f *Flat) Delete(id int64) {
	i, ok := slices.BinarySearch(f.ids, id)
	if !ok || f.scale[i] == 0 {
		return
	}
	f.scale[i] = 0
	if f.gone++; f.gone*4 > len(f.ids) {
		f.close()
	}
}

func (f *Flat) close() {
	old := *f
	*f = Flat{}
	for i, id := range old.ids {
		if old.scale[i] != 0 {
			f.Put(id, old.kinds[i], old.data[i*old.dim:(i+1)*old.dim])
		}
	}
}

// Hit is a vector's id and its cosine.
type Hit struct {
	ID    int64
	Score float64
}

// Found gathers the scores of one or more sets.
type Found struct {
	Hits     []Hit // in any order
	sum, sqr float64
}

// Scan adds the scores of the vectors of the kinds (none: of all) to out.
func (f *Flat) Scan(q []int8, kinds []skald.DocKind, out *Found) {
	if len(q) != f.dim || f.dim == 0 {
		return
	}
	own := float64(inverse(q))
	all := len(kinds) == 0
	out.Hits = slices.Grow(out.Hits, len(f.ids))
	for i, s := range f.scale {
		if s == 0 || !all && !slices.Contains(kinds, f.kinds[i]) {
			continue
		}
		out.add(f.ids[i], float64(dot(f.data[i*f.dim:(i+1)*f.dim], q))*float64(s)*own)
	}
}

func (o *Found) add(id int64, score float64) {
	o.Hits = append(o.Hits, Hit{id, score})
	o.sum, o.sqr = o.sum+score, o.sqr+score*score
}

// Spread tells how many scores there are, their mean and their standard deviation.
func (o *Found) Spread() (n int64, mean, deviation float64) {
	count := max(1, float64(len(o.Hits)))
	mean = o.sum / count
	return int64(len(o.Hits)), mean, math.Sqrt(max(0, o.sqr/count-mean*mean))
}

// Best lists at least the limit nearest (0: all), the nearest first and those of equal score in the order of their ids.
func (o *Found) Best(limit int) []Hit {
	best := o.Hits
	if limit > 0 && limit < len(best) {
		least := o.least(limit)
		best = slices.DeleteFunc(slices.Clone(best), func(h Hit) bool { return bin(h.Score) < least })
	}
	slices.SortFunc(best, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return best
}

// bins is how finely scores are counted, to sort the best of them only: sorting all takes longer than scoring them.
const bins = 2048

func bin(score float64) int { return min(bins-1, max(0, int((score+1)*bins/2))) }

// least is the lowest bin of the limit nearest.
func (o *Found) least(limit int) int {
	var count [bins]int
	for _, h := range o.Hits {
		count[bin(h.Score)]++
	}
	at := bins - 1
	for sum := count[at]; sum < limit && at > 0; sum += count[at] {
		at--
	}
	return at
}

// inverse is one over the length of a vector; 0 for the zero vector.
func inverse(v []int8) float32 {
	if n := dot(v, v); n > 0 {
		return float32(1 / math.Sqrt(float64(n)))
	}
	return 0
}

// dot is the product of two vectors of the same length; four sums at a time, for speed.
func dot(a, b []int8) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += int32(x[0]) * int32(y[0])
		s1 += int32(x[1]) * int32(y[1])
		s2 += int32(x[2]) * int32(y[2])
		s3 += int32(x[3]) * int32(y[3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// Package near finds the vectors that point where a given one does.
package near

import (
	"cmp"
	"math"
	"slices"
)

// Flat is a set of vectors of one length, one below the other in memory. The zero value is empty.
type Flat struct {
	dim   int
	ids   []int64
	scale []float32 // one over the length of the vector
	data  []int8
	signs []uint8         // of each vector, a bit for each number (coarse.go)
	place map[int64]int32 // where an id stands
}

// Put adds a vector, or puts it in the place of the one of that id. Empty ones and those of another length than the others are passed over.
func (f *Flat) Put(id int64, v []int8) {
	if len(v) == 0 || len(f.ids) > 0 && len(v) != f.dim {
		return
	}
	f.Delete(id)
	if f.place == nil {
		f.place = map[int64]int32{}
	}
	f.dim = len(v)
	f.place[id] = int32(len(f.ids))
	f.ids, f.scale, f.data = append(f.ids, id), append(f.scale, inverse(v)), append(f.data, v...)
	f.signs = appendSigns(f.signs, v)
}

// Delete takes a vector out; the last one takes its place.
func (f *Flat) Delete(id int64) {
	i, ok := f.place[id]
	if !ok {
		return
	}
	delete(f.place, id)
	last := len(f.ids) - 1
	if int(i) != last {
		f.ids[i], f.scale[i] = f.ids[last], f.scale[last]
		copy(f.at(int(i)), f.at(last))
		copy(f.signsAt(int(i)), f.signsAt(last))
		f.place[f.ids[i]] = i
	}
	f.ids, f.scale, f.data = f.ids[:last], f.scale[:last], f.data[:last*f.dim]
	f.signs = f.signs[:last*signBytes(f.dim)]
}

func (f *Flat) at(i int) []int8 { return f.data[i*f.dim : (i+1)*f.dim] }

// Hit is a vector's id and its cosine.
type Hit struct {
	ID    int64
	Score float64
}

// Found is the answer to a Scan: the nearest first, those of equal score in the order of their ids.
type Found struct {
	Hits            []Hit
	Docs            int64 // vectors looked at, with the mean of their scores and the standard deviation
	Mean, Deviation float64
}

// Scan finds at least the limit nearest (0: all) in some sets. Of many vectors it scores only those that are likely to be near (coarse.go).
func Scan(sets []*Flat, q []int8, limit int) Found {
	if size(sets, len(q)) > coarseFrom && limit > 0 {
		return coarse(sets, q, limit)
	}
	var s scan
	own := float64(inverse(q))
	for _, f := range sets {
		if len(q) != f.dim || f.dim == 0 {
			continue
		}
		s.hits = slices.Grow(s.hits, len(f.ids))
		for i, scale := range f.scale {
			s.add(f.ids[i], float64(dot(f.at(i), q))*float64(scale)*own)
		}
	}
	out := Found{Hits: s.best(limit), Docs: int64(len(s.hits))}
	out.Mean, out.Deviation = s.spread()
	return out
}

// scan gathers scores. Their sums are whole numbers, which come out the same in whatever order the vectors stand.
type scan struct {
	hits     []Hit
	sum, sqr int64 // in units of 1/fine
}

const fine = 1 << 30

func (s *scan) add(id int64, score float64) {
	s.hits = append(s.hits, Hit{id, score})
	s.sum, s.sqr = s.sum+int64(score*fine), s.sqr+int64(score*score*fine)
}

func (s *scan) spread() (mean, deviation float64) {
	count := max(1, float64(len(s.hits))) * fine
	mean = float64(s.sum) / count
	return mean, math.Sqrt(max(0, float64(s.sqr)/count-mean*mean))
}

func (s *scan) best(limit int) []Hit {
	best := slices.Clone(s.hits)
	if limit > 0 && limit < len(best) {
		least := s.least(limit)
		best = slices.DeleteFunc(best, func(h Hit) bool { return bin(h.Score) < least })
	}
	slices.SortFunc(best, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return best
}

// bins is how finely scores are counted, to sort the best of them only: sorting all takes longer than scoring them.
const bins = 2048

func bin(score float64) int { return min(bins-1, max(0, int((score+1)*bins/2))) }

// least is the lowest bin of the limit nearest.
func (s *scan) least(limit int) int {
	var count [bins]int
	for _, h := range s.hits {
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

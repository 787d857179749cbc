package near

import (
	"math"
	"math/rand/v2"
	"testing"
)

// scattered are vectors around some centres, as the meanings of texts are.
func scattered(n, dim, centres int) (*Flat, *rand.Rand) {
	r, f := rand.New(rand.NewPCG(3, 4)), &Flat{}
	middle := make([][]int8, centres)
	for i := range middle {
		middle[i] = vector(r, dim)
	}
	for i := range n {
		f.Put(int64(3*i+1), around(r, middle[i%centres]))
	}
	return f, r
}

func around(r *rand.Rand, centre []int8) []int8 {
	v := make([]int8, len(centre))
	for i, x := range centre {
		v[i] = int8(max(-127, min(127, int(x)+r.IntN(181)-90)))
	}
	return v
}

// The coarse search finds nearly all of what the whole one finds, and its mean and deviation are about those of all.
func TestCoarse(t *testing.T) {
	t.Parallel()
	f, r := scattered(coarseFrom+5000, 192, 400)
	missing, all := 0, 0
	for range 20 {
		q := around(r, f.at(r.IntN(len(f.ids))))
		some := Scan([]*Flat{f}, q, 100)
		whole := Scan([]*Flat{f}, q, 0)
		got := map[int64]float64{}
		for _, h := range some.Hits {
			got[h.ID] = h.Score
		}
		for _, h := range whole.Hits[:100] {
			if all++; got[h.ID] != h.Score {
				missing++
			}
		}
		if some.Docs != whole.Docs || math.Abs(some.Mean-whole.Mean) > 0.01 || math.Abs(some.Deviation-whole.Deviation) > 0.01 {
			t.Errorf("%d %.4f %.4f of %d %.4f %.4f", some.Docs, some.Mean, some.Deviation, whole.Docs, whole.Mean, whole.Deviation)
		}
	}
	if missing*50 > all {
		t.Errorf("%d of %d are missing", missing, all)
	}
}

// What was deleted or replaced is not found, and the order in which vectors were put changes nothing.
func TestCoarseInAnyOrder(t *testing.T) {
	t.Parallel()
	f, r := scattered(coarseFrom+2000, 70, 300)
	g := &Flat{}
	for i := len(f.ids) - 1; i >= 0; i-- {
		g.Put(f.ids[i], vector(r, 70)) // replaced below
		g.Put(f.ids[i], f.at(i))
		g.Put(-f.ids[i], f.at(i))
	}
	for _, id := range f.ids {
		g.Delete(-id)
	}
	for range 5 {
		q := vector(r, 70)
		a, b := Scan([]*Flat{f}, q, 50), Scan([]*Flat{g}, q, 50)
		if len(a.Hits) != len(b.Hits) || a.Mean != b.Mean || a.Deviation != b.Deviation {
			t.Fatalf("%d %v %v, %d %v %v", len(a.Hits), a.Mean, a.Deviation, len(b.Hits), b.Mean, b.Deviation)
		}
		for i := range a.Hits {
			if a.Hits[i] != b.Hits[i] {
				t.Fatalf("%v, %v", a.Hits[i], b.Hits[i])
			}
		}
	}
}

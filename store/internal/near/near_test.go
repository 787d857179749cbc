package near

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func vector(r *rand.Rand, dim int) []int8 {
	v := make([]int8, dim)
	for i := range v {
		v[i] = int8(r.IntN(255) - 127)
	}
	return v
}

func filled(n, dim int) (*Flat, *rand.Rand) {
	r, f := rand.New(rand.NewPCG(1, 2)), &Flat{}
	for i := range n {
		f.Put(int64(i+1), vector(r, dim))
	}
	return f, r
}

func TestBestAreThoseOfAll(t *testing.T) {
	t.Parallel()
	f, r := filled(3000, 24)
	for range 20 {
		q := vector(r, 24)
		some := Scan([]*Flat{f}, q, 50).Hits
		all := Scan([]*Flat{f}, q, 0).Hits
		if len(all) != 3000 || len(some) < 50 || !slices.Equal(some[:50], all[:50]) {
			t.Fatalf("%d of %d differ from the whole list", len(some), len(all))
		}
	}
}

func TestPutAndDelete(t *testing.T) {
	t.Parallel()
	f, r := filled(1000, 8)
	for id := int64(1); id <= 700; id++ {
		f.Delete(id)
		f.Delete(id)
	}
	east, west := []int8{9, 0, 0, 0, 0, 0, 0, 0}, []int8{-9, 0, 0, 0, 0, 0, 0, 0}
	f.Put(500, west)
	f.Put(500, east) // in place of the first
	f.Put(400, []int8{1, 2})
	found := Scan([]*Flat{f}, east, 0)
	if found.Docs != 301 || found.Hits[0].ID != 500 {
		t.Errorf("%d found, 301 expected; the first %v", found.Docs, found.Hits[0])
	}
	for _, h := range found.Hits {
		if h.ID <= 700 && h.ID != 500 {
			t.Errorf("%d was deleted", h.ID)
		}
	}
	same := Scan([]*Flat{f}, vector(r, 8), 0)
	for id := int64(701); id <= 1000; id++ {
		f.Delete(id)
	}
	f.Delete(500)
	if left := Scan([]*Flat{f}, east, 0); left.Docs != 0 || len(same.Hits) != 301 {
		t.Errorf("%d left", left.Docs)
	}
}

func BenchmarkScan100k(b *testing.B) {
	f, r := filled(100_000, 192)
	q := vector(r, 192)
	b.ReportAllocs()
	for b.Loop() {
		Scan([]*Flat{f}, q, 480)
	}
}

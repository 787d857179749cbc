package near

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skald-engine/skald"
)

func vector(r *rand.Rand, dim int) []int8 {
	v := make([]int8, dim)
	for i := range v {
		v[i] = int8(r.IntN(255) - 127)
	}
	return v
}

// kinds alternate.
func filled(n, dim int) (*Flat, *rand.Rand) {
	r, f := rand.New(rand.NewPCG(1, 2)), &Flat{}
	for i := range n {
		kind := skald.DocTurn
		if i%10 == 0 {
			kind = skald.DocMemory
		}
		f.Put(int64(i+1), kind, vector(r, dim))
	}
	return f, r
}

func TestBestAreThoseOfAll(t *testing.T) {
	t.Parallel()
	f, r := filled(3000, 24)
	for range 20 {
		q := vector(r, 24)
		var found Found
		f.Scan(q, nil, &found)
		some := found.Best(50)
		all := slices.Clone(found.Best(0))
		if len(all) != 3000 || len(some) < 50 || !slices.Equal(some[:50], all[:50]) {
			t.Fatalf("%d of %d differ from the whole list", len(some), len(all))
		}
	}
}

func TestDeletedStayAway(t *testing.T) {
	t.Parallel()
	f, r := filled(1000, 8)
	for id := int64(1); id <= 700; id++ {
		f.Delete(id)
		f.Delete(id)
	}
	f.Put(500, skald.DocTurn, vector(r, 8)) // ids never come back
	f.Put(1001, skald.DocTurn, vector(r, 8))
	var found Found
	f.Scan(vector(r, 8), []skald.DocKind{skald.DocTurn}, &found)
	if len(found.Hits) != 271 {
		t.Errorf("%d found, 271 expected", len(found.Hits))
	}
	for _, h := range found.Hits {
		if h.ID <= 700 {
			t.Errorf("%d was deleted", h.ID)
		}
	}
}

func BenchmarkScan100k(b *testing.B) {
	f, r := filled(100_000, 192)
	q := vector(r, 192)
	b.ReportAllocs()
	for b.Loop() {
		var found Found
		f.Scan(q, []skald.DocKind{skald.DocTurn}, &found)
		found.Best(480)
	}
}

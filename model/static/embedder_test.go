package static

import (
	"hash/crc32"
	"slices"
	"testing"
)

// A table that changes must change its name, or stores keep vectors of two tables under one.
func TestNameFollowsTheTable(t *testing.T) {
	t.Parallel()
	if sum := crc32.ChecksumIEEE(packed); sum != checksum {
		t.Errorf("the table's checksum is 0x%08x: put it in checksum (embedder.go)", sum)
	}
}

func TestTableEmbeds(t *testing.T) {
	t.Parallel()
	list, err := Table{}.Passages(t.Context(), []string{"a little dog", "", "the invoice"})
	if err != nil || len(list) != 3 || len(list[0]) != Dim || list[1] != nil {
		t.Fatal(list, err)
	}
	if q, err := (Table{}).Query(t.Context(), "a little dog"); err != nil || !slices.Equal(q, list[0]) {
		t.Errorf("%v %v", q, err)
	}
}

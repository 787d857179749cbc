package static

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// table holds a row of int8 numbers and a scale for each word.
type table struct {
	rows  map[string]int32
	scale []float32
	data  []byte // rows of Dim int8
}

// unpack reads "SKV1", the number of words, their dimension and the length of the word list (uint32, little endian), the list with a line
// feed between words, a float32 scale for each word, and the rows. The file is part of the program: one that does not fit is a mistake of
// the build, so it panics.
func unpack(packed []byte) *table {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("model/static: " + err.Error())
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		panic("model/static: " + err.Error())
	}
	const head = 16
	if len(raw) < head || string(raw[:4]) != "SKV1" {
		panic("model/static: no table")
	}
	n, dim, size := binary.LittleEndian.Uint32(raw[4:]), binary.LittleEndian.Uint32(raw[8:]), binary.LittleEndian.Uint32(raw[12:])
	if dim != Dim || uint64(len(raw)) != head+uint64(size)+uint64(n)*(4+Dim) {
		panic("model/static: the table has another shape")
	}
	t := &table{rows: make(map[string]int32, n), scale: make([]float32, n)}
	at := head + int(size)
	list := string(raw[head:at])
	for i := range t.scale {
		t.scale[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[at+4*i:]))
		word, rest, _ := strings.Cut(list, "\n")
		t.rows[word], list = int32(i), rest
	}
	t.data = append([]byte(nil), raw[at+4*int(n):]...)
	return t
}

func (t *table) find(word string) int {
	if row, ok := t.rows[word]; ok {
		return int(row)
	}
	return -1
}

func (t *table) add(row int, sum *[Dim]float32) {
	s := t.scale[row]
	for i, v := range t.data[row*Dim : row*Dim+Dim] {
		sum[i] += s * float32(int8(v))
	}
}

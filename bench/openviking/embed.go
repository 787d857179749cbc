package openviking

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// Dimension is the length of the scripted vectors.
const Dimension = 256

// Embed is a deterministic embedding: every word adds to one place of the vector, so that texts with common words are near each other.
func Embed(text string) []float32 {
	v := make([]float32, Dimension)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(word))
		v[h.Sum32()%Dimension]++
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

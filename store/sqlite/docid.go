package sqlite

import "math/bits"

// A document's id carries its length class in the lowest bits, so that a search can weigh thousands of candidates by length
// without reading their rows: id = number*8 + class, where class 0 is up to 7 terms, 1 up to 15, … and 7 is 512 and more.
const classBits = 3

func docID(number int64, length int) int64 { return number<<classBits | int64(lengthClass(length)) }

func lengthClass(length int) int {
	return min(max(bits.Len(uint(max(length, 0)))-3, 0), 1<<classBits-1)
}

// classLength is a typical length of documents of the id's class.
func classLength(id int64) float64 { return float64(int64(6) << (id & (1<<classBits - 1))) }

// firstFreeDoc is the first number that no document has.
func (c *conn) firstFreeDoc() (number int64, err error) {
	t := &tx{c: c}
	_, err = t.row("doc.max", `SELECT max(id) FROM doc`)(&number)
	return number>>classBits + 1, err
}

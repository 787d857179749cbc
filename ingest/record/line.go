package record

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// MaxLine is the longest line that is read, in bytes. A longer one is reported and passed over, so that no file fills the memory.
const MaxLine = 64 << 20

// Line is one line of a file, without its end.
type Line struct {
	Number  int    // from 1
	Text    []byte // valid until the next line
	TooLong bool   // it is longer than MaxLine; Text is empty
}

// Lines yields the lines of r that are not blank. A last line without an end counts: it may be half-written, which its JSON tells.
func Lines(r io.Reader) iter.Seq2[Line, error] { return lines(r, MaxLine) }

func lines(r io.Reader, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var text []byte
		for n := 1; ; n++ {
			line := Line{Number: n}
			var err error
			text, line.TooLong, err = readLine(in, text[:0], limit)
			if line.Text = bytes.TrimSpace(text); line.TooLong {
				line.Text = nil
			}
			if n == 1 {
				line.Text = bytes.TrimPrefix(line.Text, []byte("\xef\xbb\xbf"))
			}
			if (line.TooLong || len(line.Text) > 0) && !yield(line, nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Line{Number: n}, err)
				return
			}
		}
	}
}

// readLine appends the next line to text, and passes over what is beyond the limit.
func readLine(in *bufio.Reader, text []byte, limit int) ([]byte, bool, error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(text)+len(part) > limit; !long {
			text = append(text, part...)
		}
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

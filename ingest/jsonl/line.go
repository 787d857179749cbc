package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// maxLine is the longest line that is read, in bytes; a longer one is skipped without being held in memory.
const maxLine = 32 << 20

// line is one line of a file.
type line struct {
	text   []byte // without its end and surrounding space; valid until the next one is read
	number int    // from 1
	from   int64  // byte offsets in the file, its end included
	to     int64
	fault  string // why it cannot be taken
}

// lines reads a file line by line.
type lines struct {
	file   *os.File
	r      *bufio.Reader
	number int
	offset int64
	long   []byte // a line that is longer than the reader's buffer
}

func open(path string) (*lines, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return &lines{file: file, r: bufio.NewReaderSize(file, 256<<10)}, nil
}

func (l *lines) close() { l.file.Close() }

// seek goes to the start of a line.
func (l *lines) seek(offset int64, number int) error {
	if offset == l.offset && number == l.number+1 {
		return nil
	}
	if _, err := l.file.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	l.r.Reset(l.file)
	l.offset, l.number = offset, number-1
	return nil
}

// next reads a line; ok is false at the end of the file.
func (l *lines) next() (out line, ok bool, err error) {
	out = line{number: l.number + 1, from: l.offset}
	text, err := l.r.ReadSlice('\n')
	l.offset += int64(len(text))
	if errors.Is(err, bufio.ErrBufferFull) {
		text, err = l.collect(text)
	}
	if err == io.EOF {
		if l.offset == out.from {
			return out, false, nil
		}
		err = nil
	}
	if err != nil {
		return out, false, err
	}
	l.number++
	out.to = l.offset
	if out.to-out.from > maxLine {
		out.fault = fmt.Sprintf("the line is longer than %d MB", maxLine>>20)
		return out, true, nil
	}
	if out.number == 1 {
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	}
	out.text = bytes.TrimSpace(text)
	return out, true, nil
}

// collect reads the rest of a line that is longer than the buffer, and keeps no more than maxLine of it.
func (l *lines) collect(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		more, err := l.r.ReadSlice('\n')
		l.offset += int64(len(more))
		if len(l.long) <= maxLine {
			l.long = append(l.long, more...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}

// fields are what is read of a line beside the message itself.
type fields struct {
	Role      any             `json:"role"`
	Session   any             `json:"session"`
	ID        any             `json:"id"`
	Timestamp json.RawMessage `json:"timestamp"`
	session   string
	id        string
}

// parse reads a line's fields, or says why it is no message.
func (l *line) parse() (f fields, fault string) {
	switch {
	case l.fault != "":
		return f, l.fault
	case !utf8.Valid(l.text):
		return f, "the line is not valid UTF-8"
	case l.text[0] != '{':
		return f, "the line is not a JSON object"
	}
	if err := json.Unmarshal(l.text, &f); err != nil {
		return f, "the line is not valid JSON: " + err.Error()
	}
	if role, ok := f.Role.(string); !ok || role == "" {
		return f, `the line has no "role"`
	}
	f.session, f.id = name(f.Session), name(f.ID)
	return f, ""
}

// name takes texts and numbers for names.
func name(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return ""
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skald-engine/skald/server/wire"
)

// print writes v as the one JSON document, or what human writes.
func (s *shell) print(v any, human func(w io.Writer)) error {
	if !s.json {
		return s.text(human)
	}
	body, err := wire.Encode(v)
	if err != nil {
		return err
	}
	return s.document(body)
}

// document writes an encoded document.
func (s *shell) document(body []byte) error {
	_, err := s.out.Write(append(body, '\n'))
	return err
}

func (s *shell) text(human func(w io.Writer)) error {
	w := s.page(s.out)
	human(w)
	return w.Flush()
}

// list is v, never null in JSON.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// line cuts a text to one line of at most n characters.
func line(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func size(bytes int64) string {
	const unit = 1024
	switch {
	case bytes < unit:
		return fmt.Sprintf("%d B", bytes)
	case bytes < unit*unit:
		return fmt.Sprintf("%.1f KB", float64(bytes)/unit)
	case bytes < unit*unit*unit:
		return fmt.Sprintf("%.1f MB", float64(bytes)/unit/unit)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/unit/unit/unit)
}

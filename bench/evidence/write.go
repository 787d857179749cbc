package evidence

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/skald-engine/skald"
)

// writer writes the contexts.
type writer struct {
	file *os.File
	buf  *bufio.Writer
}

func newWriter(path string) (*writer, error) {
	if path == "" {
		return &writer{}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, skald.Invalid("evidence", "out", "%w", err)
	}
	return &writer{file: f, buf: bufio.NewWriter(f)}, nil
}

func (w *writer) write(question string, a answer) error {
	if w.file == nil {
		return nil
	}
	enc := json.NewEncoder(w.buf)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Question string   `json:"question_id"`
		Context  string   `json:"context"`
		Ranked   []string `json:"ranked"`
	}{question, a.context, append([]string{}, a.ranked...)})
}

func (w *writer) close() error {
	if w.file == nil {
		return nil
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	return w.file.Close()
}

package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skald-engine/skald/ingest"
)

// BenchmarkRead reads a transcript of 20,000 messages.
func BenchmarkRead(b *testing.B) {
	const count = 20_000
	path := filepath.Join(b.TempDir(), "0a2b6c1e-0a51-4f6e-9d0e-51c2a7b0a00f.jsonl")
	var text bytes.Buffer
	for n := range count / 2 {
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%d","timestamp":"2026-05-04T08:00:00Z","message":{"role":"user","content":%q}}`+"\n", n,
			fmt.Sprintf("Question %d about the port 5544 of the database, with some more words around it.", n))
		fmt.Fprintf(&text, `{"type":"assistant","uuid":"a%d","timestamp":"2026-05-04T08:00:01Z","message":{"id":"m%d","content":[{"type":"text","text":%q}]}}`+"\n", n, n,
			fmt.Sprintf("Answer %d: it listens, and here are a few more words so that the line is of a usual length.", n))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(b.Context(), []string{path}, ingest.OpenOptions{})
		if err != nil {
			b.Fatal(err)
		}
		read := 0
		for c := range s.Conversations(b.Context()) {
			for range c.Items {
				read++
			}
		}
		if read != count {
			b.Fatalf("%d messages", read)
		}
	}
	b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

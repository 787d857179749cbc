package jsonl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/jsonl"
	"github.com/skald-engine/skald/store/sqlite"
)

// BenchmarkImport imports 20,000 messages of 200 to 800 characters from a file into the real SQLite store, index rows included, and
// reports messages a second. One session, and ten.
func BenchmarkImport(b *testing.B) {
	for _, sessions := range []int{1, 10} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			const messages = 20_000
			file := filepath.Join(b.TempDir(), "talk.jsonl")
			writeTalk(b, file, messages, sessions)
			for b.Loop() {
				report := importInto(b, b.TempDir(), file)
				if report.Imported != messages || report.Skipped > 0 {
					b.Fatalf("%+v", report)
				}
				b.ReportMetric(float64(report.Imported)/report.Seconds, "msg/s")
			}
		})
	}
}

// BenchmarkImportAgain runs a finished import once more.
func BenchmarkImportAgain(b *testing.B) {
	const messages = 20_000
	file, dir := filepath.Join(b.TempDir(), "talk.jsonl"), b.TempDir()
	writeTalk(b, file, messages, 1)
	importInto(b, dir, file)
	for b.Loop() {
		report := importInto(b, dir, file)
		if report.Imported != 0 || report.Known != messages {
			b.Fatalf("%+v", report)
		}
		b.ReportMetric(float64(report.Known)/report.Seconds, "msg/s")
	}
}

func importInto(b testing.TB, dir, file string) ingest.Report {
	store, err := sqlite.Open(context.Background(), dir, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	e, err := engine.New(store, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	source, err := jsonl.Open(context.Background(), []string{file}, ingest.OpenOptions{})
	if err != nil {
		b.Fatal(err)
	}
	report, err := ingest.Import(context.Background(), e, e, source, ingest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return report
}

// writeTalk writes a conversation whose words come up as often as words do: a few very often, most of them rarely.
func writeTalk(b testing.TB, path string, messages, sessions int) {
	random := rand.New(rand.NewPCG(1, 2))
	often := rand.NewZipf(random, 1.1, 8, 20_000)
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for i := range messages {
		role, length := "user", 200+random.IntN(600)
		if i%2 == 1 {
			role = "assistant"
		}
		var text strings.Builder
		for text.Len() < length {
			text.WriteString(word(often.Uint64()) + " ")
		}
		line := map[string]any{"role": role, "content": text.String(), "timestamp": at.Add(time.Duration(i) * time.Minute).UnixMilli()}
		if sessions > 1 {
			line["session"] = fmt.Sprint("talk-", i*sessions/messages)
		}
		raw, err := json.Marshal(line)
		if err != nil {
			b.Fatal(err)
		}
		w.Write(append(raw, '\n'))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
}

// word is the nth word of a made-up language: frequent words are short.
func word(n uint64) string {
	syllables := [...]string{"ka", "to", "ri", "men", "sol", "ver", "ti", "an", "der", "lo", "ins", "qua", "be", "sta", "port", "el"}
	var w strings.Builder
	for n += 16; n > 0; n /= 16 {
		w.WriteString(syllables[n%16])
	}
	return w.String()
}

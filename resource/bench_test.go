package resource_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/store/sqlite"
)

// BenchmarkImport imports a thousand Markdown files into the embedded store, then once more without a change.
func BenchmarkImport(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%d/f%04d.md", i%20, i)] = fmt.Sprintf("# File %d\n\nNotes on buoy %d.\n\n## More\n\n", i, i) + long(2000)
	}
	for b.Loop() {
		store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := resource.New(store, resource.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		runner := archive.New(store, nil, nil, nil, nil)
		runner.Handle(resource.JobKind, s)
		for _, what := range []string{"first", "again"} {
			key, err := s.PutUpload(b.Context(), alice, "p.zip", bytes.NewReader(zipOf(b, files)))
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			a, err := s.Add(b.Context(), alice, resource.Request{Upload: key, To: "viking://resources/p"})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := runner.RunOne(b.Context()); err != nil {
				b.Fatal(err)
			}
			out, err := s.Wait(b.Context(), alice, a.Task)
			if err != nil || out.Meta.Files != 1000 {
				b.Fatal(out, err)
			}
			b.ReportMetric(time.Since(start).Seconds(), what+"-s")
		}
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

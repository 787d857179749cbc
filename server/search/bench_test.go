package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/tree"
)

// lexiconOf makes n words; frequent ones come first, as in a language.
func lexiconOf(n int) []string {
	syllables := []string{"ka", "lo", "mi", "ter", "vos", "ran", "del", "qui", "sor", "ben", "tu", "fra"}
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for k := i + 7; k > 0; k /= len(syllables) {
			b.WriteString(syllables[k%len(syllables)])
		}
		out[i] = b.String()
	}
	return out
}

// words draws words by Zipf's law.
func drawWords(r *rand.Rand, zipf *rand.Zipf, lexicon []string, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = lexicon[zipf.Uint64()]
	}
	return strings.Join(out, " ")
}

// fillMany puts n documents into a store: seven of ten files in a hundred folders with tags, the rest memories.
func fillMany(b *testing.B, store skald.Store, n int) (queries []string) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	lexicon := lexiconOf(20_000)
	zipf := rand.NewZipf(r, 1.1, 4, uint64(len(lexicon)-1))
	for at := 0; at < n; at += 1000 {
		err := store.Update(b.Context(), func(tx skald.Tx) error {
			for i := at; i < min(n, at+1000); i++ {
				text, on := drawWords(r, zipf, lexicon, 60), day(1).Add(time.Duration(i)*time.Minute/10)
				if i%10 < 7 {
					f := file(shared, fmt.Sprintf("project-%d/docs/%d.md", i%100, i), text, 1, fmt.Sprintf("team=%d", i%50))
					f.Created, f.Modified = on, on
					if err := tree.Put(tx, f); err != nil {
						return err
					}
					continue
				}
				m := note(fmt.Sprintf("events/%d.md", i), text, 1)
				m.Created, m.Updated = on, on
				if err := tx.PutMemory(m); err != nil {
					return err
				}
				if err := tx.PutDocs(index.DocsOfMemory(m)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for range 200 {
		queries = append(queries, drawWords(r, zipf, lexicon, 4))
	}
	return queries
}

// BenchmarkFind measures find through the handler on SQLite. SKALD_FIND_DOCS=100000 sets the number of documents.
func BenchmarkFind(b *testing.B) {
	n := 1000
	if v, err := strconv.Atoi(os.Getenv("SKALD_FIND_DOCS")); err == nil {
		n = v
	}
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	queries := fillMany(b, store, n)
	d := startOn(b, store)
	for _, c := range []struct{ name, path, rest string }{
		{"plain", "find", ``},
		{"below a folder", "find", `,"target_uri":"viking://resources/project-7/docs"`},
		{"with a tag", "find", `,"tags":["team=7"]`},
		{"of the last hour", "find", `,"since":"` + day(1).Add(time.Duration(n)*time.Minute/10-time.Hour).Format(time.RFC3339) + `"`},
		{"by a filter", "find", `,"filter":{"op":"and","conds":[{"op":"prefix","field":"uri","prefix":"viking://resources/project-4"},` +
			`{"op":"must","field":"level","conds":[2]}]}`},
		{"as a brief", "search", `,"mode":"context","purpose":"chat"`},
	} {
		b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if code, body, _ := d.call("/api/v1/search/"+c.path, `{"query":"`+queries[i%len(queries)]+`"`+c.rest+`}`); code != 200 {
					b.Fatal(code, body)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

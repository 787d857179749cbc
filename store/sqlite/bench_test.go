package sqlite_test

import (
	"crypto/rand"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/sqlite"
)

var scope = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "alice"}

// BenchmarkSync is what the disk can do: write 1 KB and sync, one after another.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 1024)
	for b.Loop() {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend appends durable turns of 1 KB, each in an Update of its own and a session of its caller.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 32} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, b.TempDir(), sqlite.Options{})
			raw := make([]byte, 1024)
			_, _ = rand.Read(raw)
			var caller atomic.Int64
			b.SetParallelism(max(1, callers/2)) // times GOMAXPROCS, which is 2 here
			work := func(next func() bool) {
				ref := skald.SessionRef{Scope: scope, ID: fmt.Sprint(caller.Add(1))}
				for seq := int64(1); next(); seq++ {
					err := s.Update(b.Context(), func(tx skald.Tx) error {
						_, last, err := tx.LastLink(ref)
						if err != nil {
							return err
						}
						return tx.AppendTurns(ref, []skald.Turn{newTurn(last+1, raw)})
					})
					if err != nil {
						b.Error(err)
						return
					}
				}
			}
			if callers == 1 {
				work(b.Loop)
				return
			}
			b.RunParallel(func(pb *testing.PB) { work(pb.Next) })
		})
	}
}

func newTurn(seq int64, raw []byte) skald.Turn {
	id := fmt.Sprintf("%016x", seq*0x9e3779b97f4a7c)
	return skald.Turn{Seq: seq, Epoch: 1, Time: time.UnixMilli(1_800_000_000_000 + seq*1000), Role: skald.RoleUser, Raw: raw, Tokens: 200, Origin: skald.OriginOwner,
		Audience: skald.AudienceDirect, EntryID: id, Position: seq, AdvancementKey: "turn:" + id, MatchKey: strings.Repeat(id, 4), TurnID: id,
		Salt: make([]byte, 16), Leaf: []byte(strings.Repeat(id, 2)), Link: []byte(strings.Repeat(id, 2))}
}

// corpus makes texts of about 600 bytes whose words are spread as in a language: a few are everywhere, most are rare.
type corpus struct {
	words []string
	zipf  *mrand.Zipf
	rand  *mrand.Rand
}

func newCorpus() *corpus {
	r := mrand.New(mrand.NewPCG(1, 2))
	c := &corpus{rand: r, zipf: mrand.NewZipf(r, 1.07, 4, 40_000)}
	for i := range 40_001 {
		word := make([]byte, 3+i%7)
		for k := range word {
			word[k] = byte('a' + r.IntN(26))
		}
		c.words = append(c.words, string(word))
	}
	return c
}

func (c *corpus) text() []string {
	var words []string
	for size := 0; size < 600; {
		w := c.words[c.zipf.Uint64()]
		words, size = append(words, w), size+len(w)+1
	}
	return words
}

// query has ten terms: three of the most frequent words, the others as they come.
func (c *corpus) query() []string {
	words := []string{c.words[c.rand.IntN(5)], c.words[c.rand.IntN(20)], c.words[c.rand.IntN(50)]}
	for len(words) < 10 {
		words = append(words, c.words[c.zipf.Uint64()])
	}
	return words
}

// fill stores and indexes n turns in sessions of 200 and returns how many raw bytes they have.
func fill(tb testing.TB, s skald.Store, c *corpus, n int) (raw int64) {
	tb.Helper()
	for i := 0; i < n; {
		err := s.Update(tb.Context(), func(tx skald.Tx) error {
			for range 50 {
				ref := skald.SessionRef{Scope: scope, ID: fmt.Sprintf("0b9d1f52-5d0e-4f53-9f3a-%012d", i/200)}
				words, seq := c.text(), int64(i%200+1)
				text := []byte(strings.Join(words, " "))
				if err := tx.AppendTurns(ref, []skald.Turn{newTurn(seq, text)}); err != nil {
					return err
				}
				doc := skald.Doc{Scope: scope, Kind: skald.DocTurn, Session: ref.ID, Seq: seq, End: len(text), Time: time.UnixMilli(1_800_000_000_000 + int64(i)),
					Role: skald.RoleUser, Origin: skald.OriginOwner, Audience: skald.AudienceDirect, Terms: words, Length: len(words)}
				if err := tx.PutDocs([]skald.Doc{doc}); err != nil {
					return err
				}
				raw += int64(len(text))
				i++
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return raw
}

const filled = 50_000

// BenchmarkFilled measures searches, the time to open and the size with 50,000 indexed turns in one scope.
func BenchmarkFilled(b *testing.B) {
	dir, c := b.TempDir(), newCorpus()
	s, err := sqlite.Open(b.Context(), dir, sqlite.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	raw := fill(b, s, c, filled)
	b.Logf("filled in %v", time.Since(began))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s, err := sqlite.Open(b.Context(), dir, sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			_ = s.Close()
		}
		h, err := os.Stat(filepath.Join(dir, "skald.db"))
		if err == nil {
			b.ReportMetric(float64(h.Size())/float64(raw), "bytes/raw-byte")
		}
	})
	for name, change := range map[string]func(*skald.SearchQuery){
		"search":         func(*skald.SearchQuery) {},
		"search/session": func(q *skald.SearchQuery) { q.Session = "0b9d1f52-5d0e-4f53-9f3a-000000000077" },
		"search/all":     func(q *skald.SearchQuery) { q.All, q.Terms = true, q.Terms[:2] },
		"search/kind":    func(q *skald.SearchQuery) { q.Kinds = []skald.DocKind{skald.DocTurn} },
	} {
		b.Run(name, func(b *testing.B) { benchSearch(b, open(b, dir, sqlite.Options{}), c, change) })
	}
}

func benchSearch(b *testing.B, s skald.Store, c *corpus, change func(*skald.SearchQuery)) {
	var times []time.Duration
	hits := 0
	for b.Loop() {
		q := skald.SearchQuery{Scopes: []skald.Scope{scope}, Terms: c.query(), Limit: 100}
		change(&q)
		began := time.Now()
		err := s.View(b.Context(), func(tx skald.Tx) error {
			res, err := tx.Search(q)
			hits += len(res.Hits)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	at := func(p float64) float64 { return float64(times[int(p*float64(len(times)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.95), "p95-ms")
	b.ReportMetric(float64(hits)/float64(len(times)), "hits/op")
}

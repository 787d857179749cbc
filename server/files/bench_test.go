package files_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/tree/view"
)

func onDisk(b testing.TB) daemon {
	b.Helper()
	store, err := sqlite.Open(context.Background(), b.TempDir(), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return startOn(b, store)
}

func change(i int) api.Change {
	return api.Change{URI: fmt.Sprintf("viking://resources/many/%05d.md", i), Mode: api.ModeReplace,
		Content: []byte(fmt.Sprintf("# Note %d\n\nThe quick brown fox number %d jumps over the lazy dog.\n", i, i))}
}

func fill(b *testing.B, d daemon, n int) {
	b.Helper()
	for at := 0; at < n; at += 250 {
		list := make([]api.Change, 0, 250)
		for i := at; i < min(n, at+250); i++ {
			list = append(list, change(i))
		}
		if _, err := d.files.Write(context.Background(), ann, list); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists a folder of 10,000 files through the handler.
func BenchmarkList(b *testing.B) {
	d := onDisk(b)
	fill(b, d, 10_000)
	for _, options := range []string{"&limit=10000", "&limit=1000", "&simple=true&limit=10000"} {
		b.Run(options[1:], func(b *testing.B) {
			for b.Loop() {
				if code, text := d.call("GET", "/api/v1/fs/ls?uri=viking://resources/many"+options, ""); code != 200 {
					b.Fatal(text)
				}
			}
		})
	}
}

// BenchmarkWrite writes files durably: 16 callers, one file a call.
func BenchmarkWrite(b *testing.B) {
	d := onDisk(b)
	var next atomic.Int64
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := d.files.Write(context.Background(), ann, []api.Change{change(int(next.Add(1)))}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkBatch writes files durably, 250 in a batch.
func BenchmarkBatch(b *testing.B) {
	d := onDisk(b)
	n := 0
	for b.Loop() {
		fill(b, d, 250)
		n += 250
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkStat describes one file among 10,000, and BenchmarkGrep looks through all of them.
func BenchmarkStat(b *testing.B) {
	d := onDisk(b)
	fill(b, d, 10_000)
	b.ResetTimer()
	for b.Loop() {
		if _, err := d.files.Stat(context.Background(), ann, "viking://resources/many/05000.md"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	d := onDisk(b)
	fill(b, d, 10_000)
	b.ResetTimer()
	for b.Loop() {
		if code, text := d.call("POST", "/api/v1/search/grep", `{"uri":"viking://resources","pattern":"number 9999 jumps"}`); code != 200 {
			b.Fatal(text)
		}
	}
}

// TestTenThousandFiles: a folder of 10,000 files is listed, refreshed once however many writes there were, and read while it is written.
func TestTenThousandFiles(t *testing.T) {
	t.Parallel()
	d := onDisk(t) // the store in memory looks through all documents at every write
	ctx := context.Background()
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for at := 0; at < 2500; at += 250 {
				list := make([]api.Change, 250)
				for i := range list {
					list[i] = change(part*2500 + at + i)
				}
				if _, err := d.files.Write(ctx, ann, list); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, err := d.files.Waiting(ctx); err != nil || n != 1 {
		t.Errorf("%d folders wait to be refreshed: %v", n, err)
	}
	list, err := d.files.List(ctx, ann, "viking://resources/many", 1, 20_000, func(view.Node) bool { return true })
	if err != nil || len(list) != 10_000 {
		t.Fatal(len(list), err)
	}
	if err := d.files.Settle(ctx, skald.Identity{Account: "acme", User: "ann", Agent: "main"}); err != nil {
		t.Fatal(err)
	}
	d.has("overview", ask[string](d, "GET", "/api/v1/content/overview?uri=viking://resources/many", ""), "10000 files, 0 folders",
		"and 9900 more")
}

package resource_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/resource"
)

// killed is a store whose process dies at the n-th write: that one and all later ones fail.
type killed struct {
	skald.Store
	left int
}

var errKilled = errors.New("killed")

func (k *killed) Update(ctx context.Context, fn func(skald.Tx) error) error {
	if k.left--; k.left < 0 {
		return errKilled
	}
	return k.Store.Update(ctx, fn)
}

// many is a project with enough files for several transactions.
func many(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("d%d/f%03d.md", i%7, i)] = fmt.Sprintf("# File %d\n\nText number %d.\n", i, i)
	}
	files["long.md"] = "# Long\n\n## One\n\n" + long(12_000) + "## Two\n\n" + long(12_000)
	files["main.go"] = "package main\n"
	return files
}

// An import that is killed at any write is taken up by the next process, and ends as if nothing had happened.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	files := many(90)
	plain := open(t)
	plain.put("p.zip", zipOf(t, files), resource.Request{To: "viking://resources/p"})
	want := plain.files("viking://resources/p")
	ended := false
	for n := 0; !ended; n++ {
		w := open(t)
		a, err := w.Add(t.Context(), alice, resource.Request{Upload: w.upload("p.zip", zipOf(t, files)), To: "viking://resources/p"})
		w.check(err)
		dying := &killed{Store: w.store, left: n}
		first, err := resource.New(dying, resource.Options{Dir: w.dir, Clock: w.now})
		w.check(err)
		old := archive.New(dying, nil, nil, w.now, nil)
		old.Handle(resource.JobKind, first)
		_, err = old.RunOne(t.Context())
		ended = err == nil // it got through
		w.time = w.time.Add(time.Hour)
		w.run()
		out, err := w.Wait(t.Context(), alice, a.Task)
		w.check(err)
		same(t, fmt.Sprintf("killed at write %d: status", n), out.Status, "success")
		if got := w.files("viking://resources/p"); len(got) != len(want) {
			t.Errorf("killed at write %d: %d nodes, wanted %d", n, len(got), len(want))
		} else {
			for uri, body := range want {
				if got[uri] != body {
					t.Errorf("killed at write %d: %s differs", n, uri)
				}
			}
		}
		if n > 60 {
			t.Fatal("it never ends")
		}
	}
}

// A cancelled import stops, and says so; importing again does the rest.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := open(t)
	a, err := w.Add(t.Context(), alice, resource.Request{Upload: w.upload("p.zip", zipOf(t, many(10))), To: "viking://resources/p"})
	w.check(err)
	var id int64
	_, err = fmt.Sscan(a.Task, &id)
	w.check(err)
	w.check(w.runner.Cancel(t.Context(), id))
	w.run()
	_, err = w.Wait(t.Context(), alice, a.Task)
	if err == nil || !strings.Contains(err.Error(), archive.Cancelled) {
		t.Errorf("a cancelled import: %v", err)
	}
	same(t, "nothing was written", w.names("viking://resources/p"), []string{})
	w.put("p.zip", zipOf(t, many(10)), resource.Request{To: "viking://resources/p"})
}

// Any sequence of imports into one root leaves what the last one alone would have left.
func TestLastImportCounts(t *testing.T) {
	t.Parallel()
	seed := time.Now().UnixNano()
	r := rand.New(rand.NewSource(seed))
	names := []string{"a.md", "b.md", "a.txt", "a.html", "d/a.md", "d/b.go", "d/e/f.json", "g.csv", "d.md", "x.go", "d/a.pdf.md", "long.md"}
	for round := range 3 {
		w := open(t)
		var files map[string]string
		for range 4 {
			files = map[string]string{"keep.md": "# Keep\n"}
			for _, n := range names {
				if r.Intn(2) == 0 {
					continue
				}
				files[n] = fmt.Sprintf("# T%d\n\n<p>Text %d.</p>\n", r.Intn(3), r.Intn(3))
				if n == "long.md" {
					files[n] = "# L\n\n## A\n\n" + long(12_000) + fmt.Sprintf("## B%d\n\n", r.Intn(3)) + long(12_000)
				}
			}
			w.put("p.zip", zipOf(t, files), resource.Request{To: "viking://resources/p"})
			again := w.put("p.zip", zipOf(t, files), resource.Request{To: "viking://resources/p"})
			if again.Meta.Created+again.Meta.Updated+again.Meta.Removed != 0 {
				t.Errorf("seed %d, round %d: importing again changes %+v", seed, round, again.Meta)
			}
		}
		fresh := open(t)
		fresh.put("p.zip", zipOf(t, files), resource.Request{To: "viking://resources/p"})
		got, want := w.texts(), fresh.texts()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("seed %d, round %d: texts\n%v\nwanted\n%v", seed, round, got, want)
		}
	}
}

// texts counts the files' contents: where two files want one name, which gets it depends on who came first.
func (w *world) texts() map[string]int {
	out := map[string]int{}
	for _, body := range w.files("viking://resources/p") {
		if body != "dir" {
			out[body]++
		}
	}
	return out
}

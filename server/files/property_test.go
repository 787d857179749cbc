package files_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/tree/view"
)

// model is the tree as a plain map: content by path, and "" with dir set for folders.
type model map[string]entry

type entry struct {
	dir     bool
	content string
}

func (m model) below(path string) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(m)) {
		if p == path || strings.HasPrefix(p, path+"/") {
			out = append(out, p)
		}
	}
	return out
}

// fits reports that a file or folder may stand at path: every part above is a folder or missing.
func (m model) fits(path string) bool {
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		if e, ok := m[path[:at]]; ok && !e.dir {
			return false
		}
	}
	return true
}

func (m model) folders(path string) {
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		m[path[:at]] = entry{dir: true}
	}
}

// put is write and mkdir; false when it must be refused.
func (m model) put(path string, e entry) bool {
	old, there := m[path]
	if !m.fits(path) || there && (e.dir || old.dir) {
		return false
	}
	m.folders(path)
	m[path] = e
	return true
}

func (m model) move(from, to string) bool {
	source, ok := m[from]
	target, there := m[to]
	at := strings.LastIndexByte(to, '/')
	if !ok || from == to || strings.HasPrefix(to, from+"/") || strings.HasPrefix(from, to+"/") || there && target.dir != source.dir {
		return false
	}
	if at > 0 && !m[to[:at]].dir {
		return false
	}
	moved := model{}
	for _, p := range m.below(from) {
		next := to + p[len(from):]
		if old, ok := m[next]; ok && old.dir != m[p].dir {
			return false // a file of the one in the way of a folder of the other
		}
		moved[next] = m[p]
	}
	for _, p := range m.below(from) {
		delete(m, p)
	}
	maps.Copy(m, moved)
	return true
}

const base = "viking://resources/"

var paths = rapid.Custom(func(r *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a.md", "b", "b-1", "c d"}), 1, 3).Draw(r, "path")
	return strings.Join(parts, "/")
})

// TestTreeIsAMap: whatever is done, listing, content and index say what a plain map says.
func TestTreeIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		store := memory.New()
		defer store.Close()
		d := startOn(t, store)
		m, ctx := model{}, context.Background()
		for i := range rapid.IntRange(1, 15).Draw(r, "operations") {
			path, word := paths.Draw(r, "at"), fmt.Sprintf("word%d", i)
			var err error
			var want bool
			switch kind := rapid.SampledFrom([]string{"write", "write", "write", "append", "mkdir", "remove", "move", "settle"}).Draw(r,
				"kind"); kind {
			case "write":
				_, err = d.files.Write(ctx, ann, []api.Change{{URI: base + path, Mode: api.ModeReplace, Content: []byte(word)}})
				want = m.put(path, entry{content: word})
			case "append":
				_, err = d.files.Write(ctx, ann, []api.Change{{URI: base + path, Mode: api.ModeAppend, Content: []byte(" " + word)}})
				want = m.put(path, entry{content: m[path].content + " " + word})
			case "mkdir":
				_, err = d.files.Mkdir(ctx, ann, base+path, "")
				want = m.put(path, entry{dir: true})
			case "remove":
				gone := m.below(path)
				_, ok := m[path]
				want = ok
				_, err = d.files.Remove(ctx, ann, base+path)
				for _, p := range gone {
					delete(m, p)
				}
			case "move":
				to := paths.Draw(r, "to")
				_, _, err = d.files.Move(ctx, ann, base+path, base+to)
				want = m.move(path, to)
			default:
				err, want = d.files.Settle(ctx, ann), true
			}
			if (err == nil) != want {
				r.Fatalf("operation %d on %q: %v, model says %v", i, path, err, want)
			}
		}
		compare(r, d, m)
	})
}

func compare(r *rapid.T, d daemon, m model) {
	ctx := context.Background()
	list, err := d.files.List(ctx, ann, "viking://resources", 64, 1<<30, func(n view.Node) bool { return n.Kind != view.Text })
	if err != nil {
		r.Fatal(err)
	}
	got := model{}
	for _, n := range list {
		e := entry{dir: n.Dir}
		if !n.Dir {
			_, b, err := d.files.Read(ctx, ann, string(n.URI), true)
			if err != nil {
				r.Fatal(err)
			}
			e.content = string(b)
		}
		got[strings.TrimPrefix(string(n.URI), base)] = e
	}
	if !maps.Equal(got, m) {
		r.Fatalf("tree %v, model %v", got, m)
	}
	words, scope := map[string][]string{}, skald.Scope{Account: "acme", Kind: skald.ScopeResources}
	for path, e := range m {
		for _, w := range strings.Fields(e.content) {
			words[w] = append(words[w], path)
		}
	}
	err = d.store.View(ctx, func(tx skald.Tx) error {
		for i := range 25 {
			w := fmt.Sprintf("word%d", i)
			res, err := tx.Search(skald.SearchQuery{Scopes: []skald.Scope{scope}, Terms: []string{w}, Limit: 100})
			if err != nil {
				return err
			}
			var found []string
			for _, h := range res.Hits {
				if !view.IsText(h.Doc.URI) {
					found = append(found, strings.TrimPrefix(string(h.Doc.URI), base))
				}
			}
			slices.Sort(found)
			slices.Sort(words[w])
			if !slices.Equal(found, words[w]) {
				r.Fatalf("the index has %s in %v, the model in %v", w, found, words[w])
			}
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}

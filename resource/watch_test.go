package resource_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource"
)

// changing is a page that says something else each time its text is set.
func changing(t *testing.T) (address string, text *atomic.Value) {
	t.Helper()
	text = new(atomic.Value)
	text.Store("first words")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text.Load().(string))) }))
	t.Cleanup(srv.Close)
	return srv.URL + "/page.txt", text
}

func TestWatchRepeats(t *testing.T) {
	t.Parallel()
	w := open(t)
	address, text := changing(t)
	out, err := w.add(resource.Request{Path: address, To: "viking://resources/w", Interval: 30})
	w.check(err)
	page := out.RootURI.Join("page.md")
	tick := func(after time.Duration) {
		t.Helper()
		w.time = w.time.Add(after)
		w.check(w.Tick(t.Context()))
		w.run()
	}
	text.Store("second words")
	tick(29 * time.Minute)
	same(t, "not due", w.files("viking://resources/w")[page], "first words")
	tick(2 * time.Minute)
	same(t, "due", w.files("viking://resources/w")[page], "second words")

	list, err := w.Watches(t.Context(), alice, "", true)
	w.check(err)
	same(t, "one watch", len(list), 1)
	same(t, "due again", list[0].Next, w.time.Add(30*time.Minute))
	off := false
	_, err = w.ChangeWatch(t.Context(), alice, list[0].ID, "", resource.Change{Active: &off})
	w.check(err)
	text.Store("third words")
	tick(time.Hour)
	same(t, "paused", w.files("viking://resources/w")[page], "second words")
	_, err = w.TriggerWatch(t.Context(), alice, "", "viking://resources/w")
	w.check(err)
	w.run()
	same(t, "triggered", w.files("viking://resources/w")[page], "third words")

	_, err = w.DeleteWatch(t.Context(), bob, list[0].ID, "")
	kind(t, "another user's", err, skald.KindNotFound)
	_, err = w.DeleteWatch(t.Context(), alice, list[0].ID, "")
	w.check(err)
	same(t, "what it brought stays", w.files("viking://resources/w")[page], "third words")
}

// A watch whose address is gone keeps what it brought, and goes on trying.
func TestWatchOfAGoneAddress(t *testing.T) {
	t.Parallel()
	w := open(t)
	var gone atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			http.NotFound(rw, r)
			return
		}
		_, _ = rw.Write([]byte("words"))
	}))
	defer srv.Close()
	_, err := w.add(resource.Request{Path: srv.URL + "/a.txt", To: "viking://resources/w", Interval: 1})
	w.check(err)
	gone.Store(true)
	w.time = w.time.Add(2 * time.Minute)
	w.check(w.Tick(t.Context()))
	w.run()
	same(t, "kept", w.names("viking://resources/w"), []string{"a.md"})
	list, err := w.Watches(t.Context(), alice, "", true)
	w.check(err)
	if len(list) != 1 || !list[0].Next.After(w.time) {
		t.Errorf("watches %+v", list)
	}
}

func TestWatchOfARootIsOne(t *testing.T) {
	t.Parallel()
	w := open(t)
	address, _ := changing(t)
	for _, minutes := range []float64{5, 7} {
		_, err := w.add(resource.Request{Path: address, To: "viking://resources/w", Interval: minutes})
		w.check(err)
	}
	list, err := w.Watches(t.Context(), alice, "", false)
	w.check(err)
	if len(list) != 1 || list[0].Interval != 7 {
		t.Errorf("watches %+v", list)
	}
	_, err = w.add(resource.Request{Upload: w.upload("a.md", nil), Interval: 5})
	kind(t, "an upload cannot be watched", err, skald.KindInvalid)
}

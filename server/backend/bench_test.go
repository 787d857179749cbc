package backend_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/backend"
	"github.com/skald-engine/skald/store/sqlite"
)

// BenchmarkAppend adds messages of 200 characters to one session that holds some already, through the whole handler and on the real store
// with its durability (every answer waits for the disk). It shows that an append does not read what is there.
func BenchmarkAppend(b *testing.B) {
	for _, held := range []int{0, 1000, 20_000} {
		for _, batch := range []int{1, 100} {
			b.Run(fmt.Sprintf("held=%d/batch=%d", held, batch), func(b *testing.B) { benchmarkAppend(b, held, batch) })
		}
	}
}

func benchmarkAppend(b *testing.B, held, batch int) {
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	e, err := engine.New(store, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	access, err := server.NewAccess("127.0.0.1:1933", false, ann, keys)
	if err != nil {
		b.Fatal(err)
	}
	h, err := server.New(server.Deps{Engine: e, Inspector: e, API: backend.New(e, store), Access: access, Loopback: true})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	add := func(count int) {
		var body strings.Builder
		for i := range count {
			n++
			if i > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"role":%q,"content":"Message %d: %s"}`, [2]string{"user", "assistant"}[n%2], n, strings.Repeat("we deploy heron ", 12))
		}
		path, text := "/api/v1/sessions/s/messages", body.String()
		if count > 1 {
			path, text = path+"/batch", `{"messages":[`+text+`]}`
		}
		r := httptest.NewRequest("POST", "http://127.0.0.1:1933"+path, strings.NewReader(text))
		r.Header.Set("X-API-Key", "key-ann")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 200 {
			b.Fatal(w.Code, w.Body)
		}
	}
	for n < held {
		add(100)
	}
	for b.Loop() {
		add(batch)
	}
	b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "messages/s")
}

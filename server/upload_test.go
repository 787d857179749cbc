package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/servertest"
	"github.com/skald-engine/skald/store/memory"
)

// TestUploadsHaveTheirOwnLimit: a file may be larger than any other body, and no larger than its own limit.
func TestUploadsHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	limits := fetch.DefaultLimits
	limits.Download = 1000
	files, err := resource.New(memory.New(), resource.Options{Dir: t.TempDir(), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, &servertest.Fake{}, func(d *server.Deps) { d.BodyLimit, d.Parts.Resources = 100, files })
	for size, want := range map[int]int{900: http.StatusOK, 1001: http.StatusBadRequest, 2 << 20: http.StatusBadRequest} {
		body := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\n" + strings.Repeat("a", size) + "\r\n--x--\r\n"
		r := httptest.NewRequest("POST", "http://localhost"+api.UploadPath, strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%d bytes: %d %s, wanted %d", size, w.Code, w.Body, want)
		}
	}
}

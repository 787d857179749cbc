package fake

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
)

// Fault is what goes wrong with one request.
type Fault int

// The faults.
const (
	None        Fault = iota
	DropEarly         // the connection ends before the work is done
	DropLate          // the work is done, the answer is lost
	Delay             // the work is done, and the answer comes after the client has given up
	Truncate          // the work is done, the answer breaks off
	Twice             // the request is delivered twice
	Half              // half of a batch is stored, then the server dies
	Fail500           // an error of the server, before the work
	Fail503Late       // an error of a proxy, after the work
	Fail429           // too many requests
	Faults            // how many there are
)

// SetFault sets what decides about the fault of each request; nil: all is well.
func (s *Server) SetFault(f func(*http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// SetDown makes the server unreachable, or reachable again.
func (s *Server) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// SetVersion changes what /health tells.
func (s *Server) SetVersion(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Version = v
}

// Requests is the number of requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *Server) next(r *http.Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	switch {
	case s.down:
		return DropEarly
	case s.fault != nil:
		return s.fault(r)
	}
	return None
}

type halfKey struct{}

func half(r *http.Request) bool { return r.Context().Value(halfKey{}) != nil }

// Faulty puts faults around a handler: this package's server, or a proxy to a real one.
func Faulty(decide func(*http.Request) Fault, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		do := func(ctx context.Context) *httptest.ResponseRecorder {
			again := r.Clone(ctx)
			again.Body = io.NopCloser(bytes.NewReader(body))
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, again)
			return rec
		}
		work := context.WithoutCancel(r.Context())
		switch decide(r) {
		case DropEarly:
			panic(http.ErrAbortHandler)
		case DropLate:
			do(work)
			panic(http.ErrAbortHandler)
		case Half:
			do(context.WithValue(work, halfKey{}, true))
			panic(http.ErrAbortHandler)
		case Delay:
			rec := do(work)
			<-r.Context().Done()
			send(w, rec, rec.Body.Bytes())
		case Truncate:
			rec := do(work)
			w.Header().Set("Content-Length", "1000000")
			send(w, rec, rec.Body.Bytes()[:rec.Body.Len()/2])
			panic(http.ErrAbortHandler)
		case Twice:
			do(work)
			rec := do(work)
			send(w, rec, rec.Body.Bytes())
		case Fail500:
			refuse(w, http.StatusInternalServerError, "INTERNAL", "a fault")
		case Fail503Late:
			do(work)
			refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "a proxy's fault")
		case Fail429:
			refuse(w, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "too many requests")
		default:
			rec := do(work)
			send(w, rec, rec.Body.Bytes())
		}
	})
}

func send(w http.ResponseWriter, rec *httptest.ResponseRecorder, body []byte) {
	w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body)
}

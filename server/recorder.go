package server

import (
	"net/http"
	"strconv"
	"time"
)

// recorder remembers the status of an answer and stamps the headers that every answer has.
type recorder struct {
	http.ResponseWriter
	start  time.Time
	status int // 0: nothing sent yet
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		seconds := time.Since(w.start).Seconds()
		w.Header().Set("X-Process-Time", strconv.FormatFloat(seconds, 'f', 6, 64))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// measure is what a request asks to be told about itself: {"telemetry": true} or {"telemetry": {"summary": true}} in its body.
type measure struct {
	wanted bool
	start  time.Time
}

type measureKey struct{}

// measured makes a request that can be measured.
func measured(r *http.Request) (*http.Request, *measure) {
	m := &measure{start: time.Now()}
	return r.WithContext(context.WithValue(r.Context(), measureKey{}, m)), m
}

// askTelemetry notes whether a body asks for a measurement.
func askTelemetry(r *http.Request, body []byte) error {
	m, ok := r.Context().Value(measureKey{}).(*measure)
	if !ok || !bytes.Contains(body, []byte(`"telemetry"`)) {
		return nil
	}
	var b struct {
		Telemetry json.RawMessage `json:"telemetry"`
	}
	if json.Unmarshal(body, &b) != nil || isNull(b.Telemetry) {
		return nil // what is wrong with the body is said where it is read
	}
	if json.Unmarshal(b.Telemetry, &m.wanted) == nil {
		return nil
	}
	var parts map[string]bool
	if json.Unmarshal(b.Telemetry, &parts) != nil {
		return invalid(inBody("telemetry"), "bool_type", "Input should be a valid boolean, or an object of booleans")
	}
	m.wanted = parts["summary"]
	return nil
}

// report is the telemetry member of the answer.
func (m *measure) report(pattern string) any {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return map[string]any{
		"id": "tm_" + hex.EncodeToString(id[:]),
		"summary": map[string]any{
			"operation": operationOf(pattern), "status": "ok", "duration_ms": float64(time.Since(m.start).Microseconds()) / 1000,
		},
	}
}

// operationOf names a route without its variables: session.commit for POST /api/v1/sessions/{id}/commit.
func operationOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, "/api/v1/")
	var words []string
	for part := range strings.SplitSeq(path, "/") {
		if !strings.HasPrefix(part, "{") {
			words = append(words, part)
		}
	}
	if words[0] == "sessions" {
		words[0] = "session"
	}
	return strings.Join(words, ".")
}

package backend_test

import (
	"strings"
	"testing"
)

// A request that asks for telemetry is told how long it took; ?profile changes nothing.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	d := start(t)
	for body, wanted := range map[string]bool{
		`{"role":"user","content":"x","telemetry":true}`:              true,
		`{"role":"user","content":"x","telemetry":{"summary":true}}`:  true,
		`{"role":"user","content":"x","telemetry":false}`:             false,
		`{"role":"user","content":"x","telemetry":null}`:              false,
		`{"role":"user","content":"\"telemetry\": true"}`:             false,
		`{"role":"user","content":"x","telemetry":{"summary":false}}`: false,
		`{"role":"user","content":"x","nested":{"telemetry":true}}`:   false,
	} {
		_, text := d.call("POST", "/api/v1/sessions/s/messages?profile=1", body)
		if got := strings.Contains(text, `"telemetry":{"id":"tm_`); got != wanted || !strings.Contains(text, `"profile":null`) {
			t.Errorf("%s: %s", body, text)
		}
	}
	text := d.fails(400, "POST", "/api/v1/sessions/s/messages", `{"role":"user","content":"x","telemetry":"yes"}`)
	d.has("bad", text, "body.telemetry")
	_, text = d.call("POST", "/api/v1/sessions/s/commit", `{"telemetry":true}`)
	d.has("commit", text, `"operation":"session.commit"`, `"status":"ok","result"`, `"duration_ms":`)
	d.lacks("short envelope", text, `"profile"`, `"error"`)
}

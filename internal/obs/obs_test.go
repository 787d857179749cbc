package obs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
)

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		log, err := NewLog(&b, "debug", format)
		if err != nil {
			t.Fatal(err)
		}
		log.With("api_key", "s3cret").Info("m", "Authorization", "Bearer s3cret", "header", "bearer s3cret", "model_token", "s3cret",
			slog.Group("g", "password", "s3cret"), "path", "/visible")
		if strings.Contains(b.String(), "s3cret") || !strings.Contains(b.String(), "/visible") {
			t.Errorf("%s: %s", format, &b)
		}
	}
	if _, err := NewLog(nil, "loud", "text"); skald.KindOf(err) != skald.KindInvalid {
		t.Error(err)
	}
	if _, err := NewLog(nil, "info", "xml"); skald.KindOf(err) != skald.KindInvalid {
		t.Error(err)
	}
}

type engine struct{ skald.Engine }

func (engine) CommitTurn(context.Context, skald.CommitTurnRequest) (skald.CommitTurnResult, error) {
	return skald.CommitTurnResult{Stored: 3}, nil
}

func (engine) Assemble(context.Context, skald.AssembleRequest) (skald.AssembleResult, error) {
	return skald.AssembleResult{}, errors.New("no")
}

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	m := NewMetrics(nil)
	w := m.Watch(engine{})
	if res, err := w.CommitTurn(t.Context(), skald.CommitTurnRequest{}); err != nil || res.Stored != 3 {
		t.Error(res, err)
	}
	if _, err := w.Assemble(t.Context(), skald.AssembleRequest{}); err == nil {
		t.Error("the error is lost")
	}
	m.Request("GET /x", 200, time.Millisecond)
	m.Commit(nil)
	m.Commit(errors.New("x"))
	m.Publication()
	m.RecallSkip()
	m.Fault("assemble")
	got := scrape(m)
	for _, line := range []string{
		`skald_http_requests_total{route="GET /x",status="200"} 1`, `skald_turns_stored_total 3`,
		`skald_engine_call_seconds_count{call="commit_turn",outcome="ok"} 1`,
		`skald_engine_call_seconds_count{call="assemble",outcome="error"} 1`,
		`skald_commits_total{outcome="error"} 1`, `skald_publications_total 1`, `skald_recall_skips_total 1`,
		`skald_faults_total{op="assemble"} 1`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// CAP-14: a sink that fails on every call is logged once and harms nothing.
func TestFailingSink(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	m := NewMetrics(slog.New(slog.NewTextHandler(&b, nil)))
	m.turns, m.calls = nil, nil
	w := m.Watch(engine{})
	for range 3 {
		if res, err := w.CommitTurn(t.Context(), skald.CommitTurnRequest{}); err != nil || res.Stored != 3 {
			t.Error(res, err)
		}
	}
	if n := strings.Count(b.String(), "metrics fail"); n != 1 {
		t.Errorf("logged %d times: %s", n, &b)
	}
	(*Metrics)(nil).Publication()
}

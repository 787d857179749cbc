package launch

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestADaemonThatAnswersIsNotStarted(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire.WriteValue(w, r, wire.Handshake{Name: wire.Name, Protocol: skald.ProtocolVersion})
	}))
	defer h.Close()
	data := filepath.Join(t.TempDir(), "data")
	if err := Ensure(t.Context(), Options{URL: h.URL, Data: data, Binary: "/does/not/exist"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a data folder was made")
	}
}

func TestAnotherProgramOnThePort(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(http.NotFoundHandler())
	defer h.Close()
	if err := Ensure(t.Context(), Options{URL: h.URL, Data: t.TempDir()}); skald.KindOf(err) != skald.KindConflict {
		t.Error(err)
	}
}

// A daemon elsewhere is nobody's to start here.
func TestRemoteIsNotStarted(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	err := Ensure(t.Context(), Options{URL: "http://skald.invalid:1933", Data: data})
	if skald.KindOf(err) != skald.KindUnavailable {
		t.Error(err)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a data folder was made")
	}
}

// A start that failed is not repeated by every call.
func TestFailedStartIsNotRepeated(t *testing.T) {
	t.Parallel()
	o := Options{URL: free(t), Data: t.TempDir(), Binary: "/does/not/exist"}
	if err := Ensure(t.Context(), o); skald.KindOf(err) != skald.KindUnavailable {
		t.Fatal(err)
	}
	early, err := o.claim()
	if err != nil || early {
		t.Errorf("a moment later: claimed %v, %v", early, err)
	}
	past := time.Now().Add(-together - time.Second)
	if err := os.Chtimes(filepath.Join(o.Data, "launched"), past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := o.claim(); skald.KindOf(err) != skald.KindUnavailable {
		t.Errorf("soon after: %v", err)
	}
	past = time.Now().Add(-againAfter - time.Second)
	if err := os.Chtimes(filepath.Join(o.Data, "launched"), past, past); err != nil {
		t.Fatal(err)
	}
	if mine, err := o.claim(); err != nil || !mine {
		t.Errorf("later: claimed %v, %v", mine, err)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	o := Options{URL: free(t), Data: t.TempDir()}
	if _, err := o.claim(); err != nil { // somebody else starts it, and it never answers
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Ensure(ctx, o); skald.KindOf(err) != skald.KindUnavailable {
		t.Error(err)
	}
}

// An agent's keys stay with the agent.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := environment([]string{"PATH=/bin", "ANTHROPIC_API_KEY=x", "SKALD_DATA=/d", "CLAUDE_PROJECT_DIR=/p", "LC_ALL=C", "https_proxy=y"})
	if want := []string{"PATH=/bin", "SKALD_DATA=/d", "LC_ALL=C", "https_proxy=y"}; !slices.Equal(got, want) {
		t.Error(got)
	}
}

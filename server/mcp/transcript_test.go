package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/mcp"
	"github.com/skald-engine/skald/store/memory"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// newEngine knows one conversation of the default user, and one of somebody else.
func newEngine(t *testing.T) *engine.Engine {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	e, err := engine.New(store, engine.Options{Clock: func() time.Time { return monday }, Recall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	say(t, e, skald.DefaultIdentity, "talk", "Our heron sanctuary opens at 5:44 in the morning.", "Noted, the gates open at 5:44.")
	say(t, e, skald.Identity{Account: "default", User: "eve", Agent: "main"}, "secret", "The heron password is plover.", "I keep it.")
	return e
}

func say(t *testing.T, e *engine.Engine, id skald.Identity, session, question, answer string) {
	t.Helper()
	r := skald.CommitTurnRequest{AdvancementKey: session, Messages: []json.RawMessage{
		message.User(question, monday.UnixMilli()), message.Assistant(answer, monday.UnixMilli())}}
	r.Identity, r.Session = id, skald.SessionAddress{SessionID: session}
	if _, err := e.CommitTurn(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestTranscripts plays the lines of a client against a server on pipes. In testdata/*.txtar each file is a message of the client, the
// file "answer" after it what the server said.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

func play(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	say := connect(t)
	out := &txtar.Archive{Comment: a.Comment}
	for i, f := range a.Files {
		if f.Name == "answer" {
			continue
		}
		out.Files = append(out.Files, f)
		got := say(f.Data)
		if got == "" {
			continue
		}
		if i+1 < len(a.Files) && a.Files[i+1].Name == "answer" && !*update {
			if diff := cmp.Diff(string(a.Files[i+1].Data), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", f.Name, diff)
			}
		} else if !*update {
			t.Errorf("%s has no answer in the transcript: run with -update", f.Name)
		}
		out.Files = append(out.Files, txtar.File{Name: "answer", Data: []byte(got)})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// connect starts a server and returns a function that sends one message and waits for its answer, "" for notifications.
func connect(t *testing.T) func([]byte) string {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	e := newEngine(t)
	s := mcp.New(mcp.Backend{Engine: e, Inspector: e, Version: "test"}, skald.DefaultIdentity)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- s.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out}) }()
	lines := bufio.NewReader(fromServer)
	t.Cleanup(func() {
		_ = toServer.Close()
		go func() { _, _ = io.Copy(io.Discard, fromServer) }()
		cancel()
		<-done
		_ = out.Close()
	})
	return func(message []byte) string {
		var compact json.RawMessage
		if err := json.Unmarshal(message, &compact); err != nil {
			t.Fatalf("%s: %v", message, err)
		}
		var id struct{ ID any }
		_ = json.Unmarshal(compact, &id)
		if _, err := toServer.Write([]byte(strings.Join(strings.Fields(string(compact)), " ") + "\n")); err != nil {
			t.Fatal(err)
		}
		if id.ID == nil {
			return ""
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return pretty(t, line)
	}
}

func pretty(t *testing.T, line []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const (
	firstSession  = "5e55a000-0000-4000-8000-000000000001"
	secondSession = "5e55a000-0000-4000-8000-000000000002"
)

// world is an engine, and a Claude Code that writes transcripts and fires hooks.
type world struct {
	t   *testing.T
	e   *engine.Engine
	h   Runner
	dir string
	n   int // lines written
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	e, err := engine.New(store, engine.Options{Clock: func() time.Time { return monday }, Recall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	patient := &limits{recall: time.Minute, late: 50 * time.Millisecond, compact: time.Minute} // a busy machine must not decide
	return &world{t: t, e: e, h: Runner{Engine: e, Inspector: e, Identity: skald.DefaultIdentity, limits: patient}, dir: t.TempDir()}
}

func (w *world) path(session string) string { return filepath.Join(w.dir, session+".jsonl") }

// write appends a line to a transcript; members go over the common ones.
func (w *world) write(session, kind string, members map[string]any) {
	w.t.Helper()
	w.n++
	line := map[string]any{"type": kind, "uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", w.n), "sessionId": session,
		"timestamp": monday.Add(time.Duration(w.n) * time.Second).Format(time.RFC3339), "isSidechain": false, "cwd": "/home/kim/garden"}
	for k, v := range members {
		line[k] = v
	}
	b, err := json.Marshal(line)
	if err != nil {
		w.t.Fatal(err)
	}
	w.append(w.path(session), append(b, '\n'))
}

func (w *world) append(path string, b []byte) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) user(session, text string) {
	w.write(session, "user", map[string]any{"message": map[string]any{"role": "user", "content": text}})
}

// reply writes one line of the reply with the given id: Claude Code writes a line for each block.
func (w *world) reply(session, id string, block map[string]any) {
	w.write(session, "assistant", map[string]any{"message": map[string]any{"id": id, "role": "assistant", "model": "claude-sonnet-5", "content": []any{block}}})
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

// input is the recorded input of an event, with the world's paths.
func (w *world) input(event string, change ...func(*Input)) Input {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "inputs", event+".json"))
	if err != nil {
		w.t.Fatal(err)
	}
	in, err := ReadInput(strings.NewReader(string(b)), event)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range change {
		c(&in)
	}
	if in.Transcript == "TRANSCRIPT" {
		in.Transcript = w.path(in.SessionID)
	}
	if in.SubagentLog == "SUBAGENT" {
		in.SubagentLog = filepath.Join(w.dir, in.SessionID, "subagents", "agent-"+in.AgentID+".jsonl")
	}
	return in
}

// fire runs a hook and returns what it gives the model.
func (w *world) fire(event string, change ...func(*Input)) string {
	w.t.Helper()
	out, err := w.h.Run(w.t.Context(), w.input(event, change...))
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Context
}

// turns lists what is stored of a session as "role: text", the tool's name beside results.
func (w *world) turns(session string) []string {
	w.t.Helper()
	list, err := w.e.ListTurns(w.t.Context(), skald.DefaultIdentity, session, 0, 0)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, t := range list {
		var m struct {
			Role     string
			ToolName string
			Content  json.RawMessage
		}
		if err := json.Unmarshal(t.Raw, &m); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(m.Role+" "+m.ToolName)+": "+string(m.Content))
	}
	return out
}

func says(last string) func(*Input) { return func(in *Input) { in.Last = last } }
func asking(prompt string) func(*Input) {
	return func(in *Input) { in.Prompt = prompt }
}
func within(session string) func(*Input) { return func(in *Input) { in.SessionID = session } }

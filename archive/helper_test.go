package archive_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
	store "github.com/skald-engine/skald/store/memory"
)

var (
	ref    = skald.SessionRef{Scope: skald.Policy{}.UserScope(skald.DefaultIdentity), ID: "s1"}
	monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// msg makes a turn's host message.
func msg(role, text string, at time.Time) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"role": role, "content": text, "timestamp": at.UnixMilli()})
	return raw
}

func user(text string) skald.Turn {
	return skald.Turn{Role: skald.RoleUser, Origin: skald.OriginOwner, Raw: msg("user", text, monday)}
}
func assistant(text string) skald.Turn {
	return skald.Turn{Role: skald.RoleAssistant, Origin: skald.OriginAgent, Raw: msg("assistant", text, monday)}
}

func call(tool string, args any) skald.Turn {
	return skald.Turn{Role: skald.RoleAssistant, Origin: skald.OriginAgent, Raw: message.AssistantCall("c1", tool, args, monday.UnixMilli()+1)}
}

// hostCall is a call as a host's model makes it.
func hostCall(tool, args string) skald.Turn {
	raw := `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"` + tool + `","arguments":` + args + `}],"model":"m","provider":"p"}`
	return skald.Turn{Role: skald.RoleAssistant, Origin: skald.OriginAgent, Raw: []byte(raw)}
}

func result(tool, text string) skald.Turn {
	return skald.Turn{Role: skald.RoleTool, Origin: skald.OriginTool, Raw: message.ToolResult("c1", tool, text, monday.UnixMilli())}
}

// numbered gives turns their sequences, times, tokens and audience.
func numbered(from int64, turns ...skald.Turn) []skald.Turn {
	for i := range turns {
		turns[i].Seq, turns[i].Epoch = from+int64(i), max(turns[i].Epoch, 1)
		turns[i].Time = monday.Add(time.Duration(from+int64(i)) * time.Minute)
		turns[i].Tokens, turns[i].Audience = message.Tokens(turns[i].Raw), skald.AudienceDirect
		turns[i].Position = -1
	}
	return turns
}

// world is a store with a session and a clock that tests set.
type world struct {
	t     *testing.T
	store skald.Store
	now   time.Time
}

func newWorld(t *testing.T, turns ...skald.Turn) *world {
	t.Helper()
	w := &world{t: t, store: store.New(), now: monday}
	t.Cleanup(func() { w.store.Close() })
	w.update(func(tx skald.Tx) error {
		return tx.PutSession(skald.Session{Ref: ref, Agent: "main", Audience: skald.AudienceDirect, Epoch: 1, EpochFrom: 1, OpenFrom: 1, Created: monday})
	})
	w.add(turns...)
	return w
}

func (w *world) update(fn func(skald.Tx) error) {
	w.t.Helper()
	if err := w.store.Update(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(turns ...skald.Turn) {
	w.t.Helper()
	w.update(func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		if err != nil {
			return err
		}
		turns = numbered(s.LastSeq+1, turns...)
		s.LastSeq += int64(len(turns))
		if err := tx.AppendTurns(ref, turns); err != nil {
			return err
		}
		return tx.PutSession(s)
	})
}

// close runs phase 1.
func (w *world) close(cause string) (a skald.Archive, ok bool) {
	w.t.Helper()
	w.update(func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		if err != nil {
			return err
		}
		a, ok, err = archive.Close(tx, &s, cause, w.now)
		return err
	})
	return a, ok
}

func (w *world) runner(s archive.Summariser, e archive.Extractor) *archive.Runner {
	return archive.New(w.store, s, e, func() time.Time { return w.now }, nil)
}

// drain runs all due jobs.
func (w *world) drain(r *archive.Runner) (n int) {
	w.t.Helper()
	for {
		ran, err := r.RunOne(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		if !ran {
			return n
		}
		n++
	}
}

func (w *world) archive(index int) (a skald.Archive) {
	w.t.Helper()
	w.update(func(tx skald.Tx) (err error) { a, err = tx.Archive(ref, index); return err })
	return a
}

func (w *world) session() (s skald.Session) {
	w.t.Helper()
	w.update(func(tx skald.Tx) (err error) { s, err = tx.Session(ref); return err })
	return s
}

// Package codex imports the rollouts that the Codex command line keeps: one JSONL file for each session, under sessions/YYYY/MM/DD/.
package codex

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// Name is the source's name.
const Name = "codex"

const op = "ingest.codex"

type source struct {
	files []string
	o     ingest.OpenOptions
	size  int64
}

// Open finds rollouts: in the paths (files, or folders that hold them), else in CODEX_HOME or the user's ~/.codex.
func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	if len(paths) == 0 {
		paths = places()
	}
	files, err := record.Find(ctx, op, paths, func(p string) bool {
		name := filepath.Base(p)
		return strings.HasPrefix(name, "rollout-") && (strings.HasSuffix(name, ".jsonl") || compressed(name))
	})
	if err != nil {
		return nil, err
	}
	return &source{files: files, o: o, size: record.Size(files)}, nil
}

func places() []string {
	home := os.Getenv("CODEX_HOME")
	if home == "" {
		home = record.Home(".codex")
	}
	return []string{filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")}
}

func compressed(name string) bool { return strings.HasSuffix(name, ".zst") }

// Name is the program's name.
func (s *source) Name() string { return Name }

// Size is the bytes of all rollouts.
func (s *source) Size() int64 { return s.size }

// Conversations yields the sessions in the order of their files' names, which begin with the date. What a fork copied from the session
// that it came from belongs to that one.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, path := range s.files {
			if err := ctx.Err(); err != nil {
				yield(ingest.Conversation{}, err)
				return
			}
			if !yield(s.conversation(path), nil) {
				return
			}
		}
	}
}

func (s *source) conversation(path string) ingest.Conversation {
	if compressed(path) {
		return record.Unreadable(path, "a rollout compressed with zstd: unpack it with `zstd -d` and import it again")
	}
	h, err := look(path)
	if err != nil {
		return record.Unreadable(path, "the file cannot be read")
	}
	c := ingest.Conversation{Origin: path, Started: h.started, Size: h.size, Session: record.Address(s.o, h.session)}
	if h.subagent {
		c.Session = record.SubagentAddress(s.o, h.session)
	}
	c.Items = reader{path: path, session: h.session, parent: s.rollout(h.parent)}.items()
	return c
}

// rollout is the file of a session, or "".
func (s *source) rollout(session string) string {
	if session == "" {
		return ""
	}
	for _, f := range s.files {
		if strings.Contains(filepath.Base(f), session) && !compressed(f) {
			return f
		}
	}
	return ""
}

// Package claudecode imports the transcripts that Claude Code keeps: one JSONL file for each session, under projects/<folder>/.
package claudecode

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
const Name = "claude-code"

const op = "ingest.claude-code"

type source struct {
	files []string
	o     ingest.OpenOptions
	size  int64
}

// Open finds transcripts: in the paths (files, or folders that hold them), else in the projects folder of CLAUDE_CONFIG_DIR or of the
// user's home.
func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	if len(paths) == 0 {
		paths = places()
	}
	files, err := record.Find(ctx, op, paths, func(p string) bool { return filepath.Ext(p) == ".jsonl" })
	if err != nil {
		return nil, err
	}
	return &source{files: files, o: o, size: record.Size(files)}, nil
}

func places() []string {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return []string{filepath.Join(dir, "projects")}
	}
	return []string{record.Home(".claude", "projects"), record.Home(".config", "claude", "projects")}
}

// Name is the program's name.
func (s *source) Name() string { return Name }

// Size is the bytes of all transcripts.
func (s *source) Size() int64 { return s.size }

// Conversations yields the sessions, oldest first, and after each the sub-agents whose lines stand in its file. A line that a later
// session copied from an earlier one belongs to the earlier one.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		files, bad := survey(s.files)
		for _, c := range bad {
			if !yield(c, nil) {
				return
			}
		}
		seen := seen{}
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				yield(ingest.Conversation{}, err)
				return
			}
			for _, c := range s.of(f, seen) {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// of lists the conversations of one file: the session's own, and one for each sub-agent within it.
func (s *source) of(f transcript, seen seen) []ingest.Conversation {
	whole := &reader{file: f, seen: seen}
	c := ingest.Conversation{Origin: f.path, Title: f.title, Started: f.first, Size: f.size}
	if f.subagent {
		c.Session = record.SubagentAddress(s.o, f.session+"-"+stem(f.path))
		c.Items = whole.items()
		return []ingest.Conversation{c}
	}
	groups, order := sidechains(f.path)
	whole.groups = groups
	c.Session, c.Items = record.Address(s.o, f.session), whole.items()
	list := []ingest.Conversation{c}
	for _, group := range order {
		part := &reader{file: f, seen: seen, groups: groups, group: group}
		list = append(list, ingest.Conversation{Origin: f.path + "#" + group, Title: f.title, Started: f.first,
			Session: record.SubagentAddress(s.o, f.session+"-"+group), Items: part.items()})
	}
	return list
}

func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), ".jsonl") }

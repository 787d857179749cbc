// Package losslessclaw imports what lossless-claw, another context engine for OpenClaw, keeps: one SQLite file.
package losslessclaw

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// Name is the source's name.
const Name = "lossless-claw"

const op = "ingest.lossless-claw"

type source struct {
	files []string
	o     ingest.OpenOptions
}

// Open finds the file: the paths (files, or folders with an lcm.db), else LCM_DATABASE_PATH, else lcm.db in OpenClaw's state folder. The file
// is only read, also while the plugin writes to it.
func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	if len(paths) == 0 {
		paths = []string{place(o)}
	}
	files, err := record.Find(ctx, op, paths, func(p string) bool { return filepath.Base(p) == "lcm.db" })
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := check(ctx, f); err != nil {
			return nil, err
		}
	}
	return &source{files: files, o: o}, nil
}

func place(o ingest.OpenOptions) string {
	if p := os.Getenv("LCM_DATABASE_PATH"); p != "" {
		return p
	}
	for _, dir := range []string{o.State, os.Getenv("OPENCLAW_STATE_DIR")} {
		if dir != "" {
			return filepath.Join(dir, "lcm.db")
		}
	}
	return record.Home(".openclaw", "lcm.db")
}

// check reads one row of each table that is needed.
func check(ctx context.Context, path string) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, table := range []string{"conversations", "messages", "message_parts"} {
		if err := db.has(ctx, table); err != nil {
			return skald.E(op, skald.KindInvalid, "%s is no lossless-claw database: %v", path, err)
		}
	}
	return nil
}

// Name is the program's name.
func (s *source) Name() string { return Name }

// Size is the bytes of the files.
func (s *source) Size() int64 { return record.Size(s.files) }

// Conversations yields the conversations in the order of their ids, and at the end how many summaries were left out.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, f := range s.files {
			if !s.file(ctx, f, yield) {
				return
			}
		}
	}
}

func (s *source) file(ctx context.Context, path string, yield func(ingest.Conversation, error) bool) bool {
	db, err := open(path)
	if err != nil {
		yield(ingest.Conversation{}, err)
		return false
	}
	defer db.Close()
	for row, err := range db.rows(ctx, conversationsSQL) {
		if err != nil {
			yield(ingest.Conversation{}, err)
			return false
		}
		if !yield(s.conversation(ctx, path, row), nil) {
			return false
		}
	}
	var counts []ingest.Item
	for row, err := range db.rows(ctx, summariesSQL) {
		if err != nil {
			break // an early version without summaries
		}
		counts = append(counts, record.Skip(fmt.Sprintf("%s (%s)", path, row.text("n")),
			fmt.Sprintf("%s summary, written by lossless-claw: Skald makes its own of the messages", row.text("kind"))))
	}
	return len(counts) == 0 || yield(record.Notes(path, counts...), nil)
}

func (s *source) conversation(ctx context.Context, path string, row row) ingest.Conversation {
	id, key := row.text("session_id"), row.text("session_key")
	c := ingest.Conversation{
		Origin:  fmt.Sprintf("%s#%s", path, row.text("conversation_id")),
		Title:   row.text("title"),
		Started: record.Time(row.text("created_at")),
		Session: skald.SessionAddress{SessionID: id, SessionKey: key, AgentID: agentOf(key, s.o)},
	}
	c.Shared = s.o.Session == "" && id != ""
	if s.o.Session != "" || id == "" && key == "" {
		c.Session = record.Address(s.o, record.Derived(Name, row.text("conversation_id")))
	}
	c.Items = reader{path: path, conversation: row.text("conversation_id"), session: id}.items(ctx)
	return c
}

// agentOf is the agent in a session key, agent:NAME:….
func agentOf(key string, o ingest.OpenOptions) string {
	if parts := strings.Split(key, ":"); len(parts) > 2 && parts[0] == "agent" && parts[1] != "" {
		return parts[1]
	}
	return record.Address(o, "").AgentID
}

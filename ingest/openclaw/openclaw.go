// Package openclaw reads what an OpenClaw host keeps: the sessions of all its agents, from their databases (or, of older hosts, from
// JSON Lines files), and the notes in their workspaces. Everything is opened for reading only, and the gateway may be running. Session
// addresses, entry ids and positions are those that the plugin's transcript cursor delivers, so that plugin and import know each
// other's turns.
package openclaw

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	host "github.com/skald-engine/skald/host/openclaw"
	"github.com/skald-engine/skald/ingest"
)

const op = "ingest.openclaw"

// Name is what `skald import` calls this source.
const Name = "openclaw"

// source is one host.
type source struct {
	at     host.Location
	config agentsConfig
	agents []string
	size   int64
}

// Open finds the host: a path is its state folder; without one it is where o or the environment say, or ~/.openclaw.
func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	given := host.Location{State: o.State, Config: o.Config}
	switch {
	case len(paths) > 1:
		return nil, skald.Invalid(op, "path", "%q is one too many: one state folder of OpenClaw is imported at a time", paths[1])
	case len(paths) == 1:
		given.State = paths[0]
	}
	at, _ := host.Find(given)
	s := &source{at: at}
	if err := s.findAgents(); err != nil {
		return nil, err
	}
	if err := s.config.read(at); err != nil {
		return nil, err
	}
	return s, s.measure(ctx)
}

// findAgents lists the agents that have a folder, main first.
func (s *source) findAgents() error {
	if s.at.State == "" { // not the current folder
		return skald.E(op, skald.KindNotFound, "there is no home folder in which OpenClaw could be: name its state folder with --openclaw-state")
	}
	folders, err := os.ReadDir(filepath.Join(s.at.State, "agents"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return &skald.Error{Op: op, URI: s.at.State, Field: "path", Kind: skald.KindInvalid, Err: err}
	}
	for _, f := range folders {
		if f.IsDir() {
			s.agents = append(s.agents, f.Name())
		}
	}
	if len(s.agents) == 0 {
		return &skald.Error{Op: op, URI: s.at.State, Field: "path", Kind: skald.KindNotFound,
			Err: errors.New("there are no agents of OpenClaw in this folder: name its state folder with --openclaw-state")}
	}
	slices.SortStableFunc(s.agents, func(a, b string) int {
		switch main := skald.DefaultIdentity.Agent; {
		case a == main && b != main:
			return -1
		case b == main && a != main:
			return 1
		}
		return strings.Compare(a, b)
	})
	return nil
}

// measure adds up what there is to read.
func (s *source) measure(ctx context.Context) error {
	for c, err := range s.Conversations(ctx) {
		if err != nil {
			return err
		}
		s.size += c.Size
	}
	return nil
}

func (s *source) Name() string { return Name }

// Size is that of all transcripts and notes, in bytes.
func (s *source) Size() int64 { return s.size }

// Conversations yields the sessions of each agent, oldest first, and then the notes of its workspace.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, agent := range s.agents {
			list, err := s.sessions(ctx, agent)
			if err == nil {
				var notes []ingest.Conversation
				notes, err = s.notes(agent)
				list = append(list, notes...)
			}
			if err != nil {
				yield(ingest.Conversation{}, fmt.Errorf("agent %s: %w", agent, err))
				return
			}
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// sessions are those of the agent's database, and those of files that it does not have.
func (s *source) sessions(ctx context.Context, agent string) ([]ingest.Conversation, error) {
	folder := filepath.Join(s.at.State, "agents", agent)
	list, err := databaseSessions(ctx, filepath.Join(folder, "agent", "openclaw-agent.sqlite"), agent)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range list {
		known[c.Session.SessionID] = true
	}
	files, err := fileSessions(filepath.Join(folder, "sessions"), agent, len(list) == 0)
	for _, c := range files {
		if !known[c.Session.SessionID] {
			list = append(list, c)
		}
	}
	return list, err
}

// internal says why a session is not imported, "" when it is: the host talks to itself there, or Skald proved itself to the host.
func internal(key string) string {
	switch {
	case strings.Contains(key, "internal-session-effects:"):
		return "the host talks to itself in this session"
	case strings.Contains(key, "skald-proof"):
		return "a throw-away session of Skald's own proof"
	}
	return ""
}

// skipped is a conversation of which nothing is imported.
func skipped(c ingest.Conversation, reason string) ingest.Conversation {
	c.Size = 0
	c.Items = func(yield func(ingest.Item, error) bool) { yield(ingest.Item{Skipped: reason, Where: c.Origin}, nil) }
	return c
}

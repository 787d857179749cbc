package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skald-engine/skald/host/claude"
	"github.com/skald-engine/skald/host/openclaw"
	"github.com/skald-engine/skald/ingest"
)

// offer is something found on this machine, and what Skald can do about it.
type offer struct {
	Kind          string `json:"kind"` // host, history
	Name          string `json:"name"` // openclaw, claude; openclaw, claude-code, codex
	Where         string `json:"where"`
	Conversations int    `json:"conversations,omitempty"` // of a history
	Command       string `json:"command"`                 // that does it
	Question      string `json:"-"`
}

// String says what was found.
func (o offer) String() string {
	if o.Kind == "history" {
		return fmt.Sprintf("%d conversations of %s (%s)", o.Conversations, o.Name, o.Where)
	}
	return fmt.Sprintf("%s (%s)", o.Name, o.Where)
}

// offers lists histories first: while no host has started a daemon, they are brought in without one.
func (s *shell) offers(ctx context.Context) (found []offer) {
	for _, h := range histories {
		if n, ok := h.count(ctx); ok {
			found = append(found, offer{Kind: "history", Name: h.name, Where: h.title, Conversations: n, Command: "skald import " + h.name,
				Question: fmt.Sprintf("Bring in %d conversations of %s?", n, h.title)})
		}
	}
	if l, ok := openclaw.Find(openclaw.Location{}); ok {
		found = append(found, host("openclaw", "OpenClaw", l.Config))
	}
	if l, err := claude.User(s.env); err == nil && claude.Found(s.env) {
		found = append(found, host("claude", "Claude Code", l.Settings))
	}
	return found
}

func host(name, title, where string) offer {
	return offer{Kind: "host", Name: name, Where: where, Command: "skald " + name + " install", Question: "Install Skald into " + title + "?"}
}

// history is a program whose conversations can be brought in from where it keeps them.
type history struct{ name, title string }

var histories = []history{{"openclaw", "OpenClaw"}, {"claude-code", "Claude Code"}, {"codex", "Codex"}}

// count says how many conversations are there; ok is false when there are none, or they cannot be read.
func (h history) count(ctx context.Context) (n int, ok bool) {
	open, ok := importers[h.name]
	if !ok {
		return 0, false
	}
	source, err := open(ctx, nil, ingest.OpenOptions{})
	if err != nil {
		return 0, false
	}
	for _, err := range source.Conversations(ctx) {
		if err != nil {
			return 0, false
		}
		n++
	}
	return n, n > 0
}

// wished reports whether the user wants it.
func (o offer) wished(w *wishes) bool {
	switch {
	case o.Kind == "history":
		return slices.Contains(w.imports, o.Name)
	case o.Name == "openclaw":
		return w.openclaw
	}
	return w.claude
}

// wish notes that the user wants it.
func (o offer) wish(w *wishes) {
	switch {
	case o.wished(w):
	case o.Kind == "history":
		w.imports = append(w.imports, o.Name)
	case o.Name == "openclaw":
		w.openclaw = true
	default:
		w.claude = true
	}
}

// args is the command line that does it.
func (o offer) args(ctx context.Context, w *wishes) []string {
	args := strings.Fields(strings.TrimPrefix(o.Command, "skald "))
	if o.Kind == "history" {
		return append(args, w.place(ctx)...)
	}
	args = append(args, "--data", w.data)
	if w.yes {
		args = append(args, "--yes")
	}
	return args
}

// step is a command that another one ran.
type step struct {
	Command string          `json:"command"`
	Exit    int             `json:"exit"`
	Result  json.RawMessage `json:"result"` // its JSON document, or its error
}

// runStep runs another command in this process. What it prints goes where ours goes; with --json its document becomes a part of ours.
func (s *shell) runStep(ctx context.Context, args []string) step {
	done := step{Command: "skald " + strings.Join(args, " ")}
	s.tell(func(w io.Writer) { fmt.Fprintf(w, "\n%s\n", paint(w, bold, done.Command)) })
	sub := &shell{in: s.in, out: s.out, err: s.err, env: s.env, look: s.look, quiet: s.quiet, color: s.color}
	if !s.json {
		done.Exit = sub.run(ctx, args)
		return done
	}
	var out, failure bytes.Buffer
	sub.out, sub.err = &out, &failure
	done.Exit = sub.run(ctx, append(args, "--json"))
	for _, said := range [][]byte{out.Bytes(), failure.Bytes()} {
		if json.Valid(said) {
			done.Result = bytes.TrimSpace(said)
			break
		}
	}
	return done
}

// tell writes for people, between the steps of a longer command.
func (s *shell) tell(human func(w io.Writer)) {
	if !s.json {
		_ = s.text(human)
	}
}

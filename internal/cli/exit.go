package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Exit codes. They are stable.
const (
	exitOK          = 0
	exitFailure     = 1
	exitInvalid     = 2
	exitNotFound    = 3
	exitUnavailable = 4
	exitRefused     = 5
	exitCheck       = 6
	exitDeadline    = 7
)

const exitHelp = `Exit codes:
  0  done
  1  failed
  2  wrong usage or bad input
  3  not found
  4  the daemon cannot be reached, or the store is held by one
  5  refused: no valid key, or no permission
  6  a check failed (verify, doctor)
  7  the time limit is over; the work goes on in the background`

// exits is the one table from kinds of errors to exit codes.
var exits = map[skald.Kind]int{
	skald.KindInvalid:     exitInvalid,
	skald.KindNotFound:    exitNotFound,
	skald.KindExists:      exitFailure,
	skald.KindConflict:    exitFailure,
	skald.KindPermission:  exitRefused,
	skald.KindUnauth:      exitRefused,
	skald.KindUnavailable: exitUnavailable,
	skald.KindBudget:      exitFailure,
	skald.KindUnsupported: exitFailure,
	skald.KindDeadline:    exitDeadline,
	skald.KindInternal:    exitFailure,
}

// errCheck ends a command whose findings are printed already.
var errCheck = errors.New("a check failed")

// fail prints an error, once, and returns the exit code.
func (s *shell) fail(c *cobra.Command, err error) int {
	if errors.Is(err, errCheck) {
		return exitCheck
	}
	e := classify(err)
	if s.json {
		s.failJSON(c, e)
	} else {
		s.failText(c, e)
	}
	if code, ok := exits[e.Kind]; ok {
		return code
	}
	return exitFailure // a kind of a newer daemon
}

func classify(err error) *skald.Error {
	if errors.Is(err, context.Canceled) {
		return &skald.Error{Kind: skald.KindInternal, Err: errInterrupted}
	}
	return wire.Classify(err)
}

var errInterrupted = errors.New("interrupted")

func (s *shell) failJSON(c *cobra.Command, e *skald.Error) {
	body, err := wire.Encode(map[string]any{"error": struct {
		Kind    skald.Kind `json:"kind"`
		Message string     `json:"message"`
		Field   string     `json:"field"`
		Fix     string     `json:"fix,omitempty"`
	}{e.Kind, sentence(e), e.Field, advice(c, e)}})
	if err != nil {
		body = []byte(`{"error":{"kind":"internal","message":"the error could not be encoded","field":""}}`)
	}
	fmt.Fprintln(s.err, string(body))
}

func (s *shell) failText(c *cobra.Command, e *skald.Error) {
	w := s.page(s.err)
	defer w.Flush()
	text := sentence(e)
	if e.Field != "" && !strings.HasPrefix(text, strings.TrimSuffix(e.Field, "s")) {
		text = e.Field + ": " + text
	}
	fmt.Fprintf(w, "%s: %s\n", paint(w, red, c.CommandPath()), text)
	if hint := advice(c, e); hint != "" {
		fmt.Fprintf(w, "  %s\n", hint)
	}
}

// sentence says what happened, and to what.
func sentence(e *skald.Error) string {
	text := string(e.Kind)
	if e.Err != nil {
		text = plainText(e.Err)
	}
	if e.URI != "" && !strings.Contains(text, e.URI) {
		text = e.URI + ": " + text
	}
	return text
}

// plainText is an error's text without the operations of the errors inside it: `uri.parse` means nothing to the person who reads it.
func plainText(err error) string {
	text := err.Error()
	eachCause(err, func(cause error) {
		if e, ok := cause.(*skald.Error); ok && e.Op != "" {
			text = strings.Replace(text, e.Op+": ", "", 1)
		}
	})
	return text
}

// eachCause visits an error and all that it wraps.
func eachCause(err error, visit func(error)) {
	if err == nil {
		return
	}
	visit(err)
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		eachCause(w.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, cause := range w.Unwrap() {
			eachCause(cause, visit)
		}
	}
}

// hint is a cause that knows its own remedy.
type hint struct{ text, fix string }

func (h *hint) Error() string { return h.text }

// advice says what to do, where the message itself does not.
func advice(c *cobra.Command, e *skald.Error) string {
	var own *hint
	if errors.As(e.Err, &own) {
		return own.fix
	}
	if errors.Is(e.Err, errInterrupted) {
		return "" // the user knows why
	}
	if hint, ok := adviceByKind[e.Kind]; ok && !strings.Contains(sentence(e), "`skald ") {
		if e.Kind == skald.KindNotFound && e.Field == "data" {
			return "name the folder that `skald serve --data` uses, or leave --data out to ask the running daemon"
		}
		if e.Kind == skald.KindNotFound && !strings.Contains(c.Use, "SESSION") && !strings.Contains(c.Use, "URI") {
			return "" // what is missing is no session and no part of the tree
		}
		if e.Kind == skald.KindUnavailable && strings.Contains(sentence(e), "holds the data folder") {
			return "`skald status` asks a running daemon; a command without --data does so, too"
		}
		return strings.ReplaceAll(hint, "COMMAND", c.CommandPath())
	}
	return ""
}

var adviceByKind = map[skald.Kind]string{
	skald.KindInvalid:     "`COMMAND --help` says what it takes",
	skald.KindNotFound:    "`skald sessions` lists the sessions, `skald ls` the tree",
	skald.KindExists:      "choose another name, or remove what is there first",
	skald.KindConflict:    "something else changed it meanwhile: run the command again; `skald doctor` says when it stays so",
	skald.KindPermission:  "it belongs to another account or user: use that one's key (--key), or --user together with --data",
	skald.KindUnauth:      "give the daemon's key with --key or SKALD_API_KEY; it lies in the file key of the daemon's data folder",
	skald.KindUnavailable: "`skald serve` starts the daemon, `skald doctor` says what is in the way",
	skald.KindBudget:      "give more tokens with --budget",
	skald.KindUnsupported: "`skald version` says which version this is, `skald --help` what it can do",
	skald.KindDeadline:    "`skald jobs` lists what is still to be done; a longer --timeout waits for it",
	skald.KindInternal:    "`skald doctor` looks for causes",
}

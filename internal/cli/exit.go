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
		s.failJSON(e)
	} else {
		s.failText(c, e)
	}
	return exits[e.Kind]
}

func classify(err error) *skald.Error {
	if errors.Is(err, context.Canceled) {
		return &skald.Error{Kind: skald.KindInternal, Err: errors.New("interrupted")}
	}
	return wire.Classify(err)
}

func (s *shell) failJSON(e *skald.Error) {
	body, err := wire.Encode(map[string]any{"error": struct {
		Kind    skald.Kind `json:"kind"`
		Message string     `json:"message"`
		Field   string     `json:"field"`
	}{e.Kind, sentence(e), e.Field}})
	if err != nil {
		body = []byte(`{"error":{"kind":"internal","message":"the error could not be encoded","field":""}}`)
	}
	fmt.Fprintln(s.err, string(body))
}

func (s *shell) failText(c *cobra.Command, e *skald.Error) {
	text := sentence(e)
	if e.Field != "" && !strings.HasPrefix(text, e.Field) {
		text = e.Field + ": " + text
	}
	fmt.Fprintf(s.err, "%s: %s\n", c.CommandPath(), text)
	if hint := advice(e); hint != "" {
		fmt.Fprintf(s.err, "  %s\n", hint)
	}
}

// sentence says what happened, and to what.
func sentence(e *skald.Error) string {
	text := string(e.Kind)
	if e.Err != nil {
		text = e.Err.Error()
	}
	if e.URI != "" && !strings.Contains(text, e.URI) {
		text = e.URI + ": " + text
	}
	return text
}

// advice says what to do, where the message itself does not.
func advice(e *skald.Error) string {
	switch {
	case e.Kind == skald.KindNotFound && e.Field == "data":
		return "name the folder that `skald serve --data` uses, or leave --data out to ask the running daemon"
	case e.Kind == skald.KindNotFound:
		return "`skald sessions` lists the sessions, `skald ls` the tree"
	case e.Kind == skald.KindUnauth:
		return "give the daemon's key with --key or SKALD_API_KEY; it lies in the file key of the daemon's data folder"
	case e.Kind == skald.KindInternal:
		return "`skald doctor` looks for causes"
	}
	return ""
}

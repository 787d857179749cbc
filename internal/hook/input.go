package hook

import (
	"encoding/json"
	"io"
	"regexp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Events are the hooks that Skald takes part in, by Claude Code's names.
var Events = []string{"SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd"}

// Input is what Claude Code writes to a hook's standard input (code.claude.com/docs/en/hooks, "Hook input and output"). Fields that an
// event lacks are empty, and unknown ones are ignored.
type Input struct {
	Event       string `json:"hook_event_name"`
	SessionID   string `json:"session_id"`
	Transcript  string `json:"transcript_path"`
	Prompt      string `json:"prompt"`                 // UserPromptSubmit
	Source      string `json:"source"`                 // SessionStart: startup, resume, clear, compact, fork
	Last        string `json:"last_assistant_message"` // Stop, SubagentStop: the transcript may lack it yet
	AgentID     string `json:"agent_id"`               // inside a sub-agent
	SubagentLog string `json:"agent_transcript_path"`  // SubagentStop
}

// maxInput is the most that is read of a hook's input, in bytes. A prompt may hold a pasted file; the transcript is not among it.
const maxInput = 16 << 20

// sessionID is the form that Claude Code's ids have; it becomes part of a store's keys and of nothing else.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// ReadInput reads and checks the input of the named event. It fails with KindInvalid.
func ReadInput(r io.Reader, event string) (in Input, err error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return in, skald.Invalid("hook", "input", "cannot be read: %w", err)
	case len(raw) > maxInput:
		return in, skald.Invalid("hook", "input", "is larger than %d bytes", maxInput)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, skald.Invalid("hook", "input", "is not the JSON of a hook: %w", err)
	}
	switch {
	case in.Event != event:
		return in, skald.Invalid("hook", "hook_event_name", "is %q, and this is the hook of %s", in.Event, event)
	case !sessionID.MatchString(in.SessionID):
		return in, skald.Invalid("hook", "session_id", "is missing or has other characters than letters, digits, _ and -")
	}
	return in, nil
}

// Output is the JSON that Claude Code reads from a hook's standard output. An empty Context prints nothing at all.
type Output struct {
	Event   string
	Context string // what the model is to see beside the prompt
}

// JSON is the document, nil when there is nothing to say.
func (o Output) JSON() ([]byte, error) {
	if o.Context == "" {
		return nil, nil
	}
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	return wire.Encode(map[string]any{"hookSpecificOutput": specific{o.Event, o.Context}})
}

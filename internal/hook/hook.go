package hook

import (
	"context"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest/claudecode"
	"github.com/skald-engine/skald/message"
)

// Limit is the most that a hook takes. The host's own limit, in its settings, is longer.
const Limit = 2 * time.Second

// limits are the times of a hook's parts.
type limits struct {
	recall  time.Duration // the call for a prompt; a start of the daemon comes before it (I7)
	late    time.Duration // waiting for a reply to be written to the transcript
	compact time.Duration // waiting for a summary before the host compacts
}

var standard = limits{recall: 300 * time.Millisecond, late: 400 * time.Millisecond, compact: 1200 * time.Millisecond}

// Sizes of what is shown.
const (
	maxContext    = 9_500   // characters; Claude Code puts more than 10,000 into a file
	windowTokens  = 160_000 // what the host's model is taken to see, in tokens
	recallTokens  = 2_000   // of one recall
	resumeArchive = 3       // newest archives whose overviews are shown after a compaction
)

// Runner runs hooks on an engine.
type Runner struct {
	Engine    skald.Engine
	Inspector skald.Inspector
	Identity  skald.Identity

	limits *limits // nil: standard
}

func (h Runner) times() limits {
	if h.limits == nil {
		return standard
	}
	return *h.limits
}

// Run does what an event asks for. What it has to say to the model comes back, and an error does not stop the agent.
func (h Runner) Run(ctx context.Context, in Input) (Output, error) {
	out := Output{Event: in.Event}
	var err error
	switch in.Event {
	case "UserPromptSubmit":
		out.Context, err = h.recall(ctx, in)
	case "SessionStart":
		out.Context, err = h.resume(ctx, in)
	case "Stop":
		err = h.captureReply(ctx, in.Transcript, in.Last)
	case "SubagentStop":
		err = h.captureReply(ctx, in.SubagentLog, in.Last)
	case "SessionEnd":
		_, err = h.capture(ctx, in.Transcript, always)
	case "PreCompact":
		err = h.beforeCompaction(ctx, in)
	}
	if len([]rune(out.Context)) > maxContext {
		return Output{}, skald.E("hook", skald.KindInternal, "the context for %s is too long for the host", in.Event)
	}
	return out, err
}

func (h Runner) request(in Input) skald.Request {
	budget := recallTokens
	return skald.Request{Identity: h.Identity, Session: skald.SessionAddress{SessionID: in.SessionID, AgentID: h.Identity.Agent},
		Settings: skald.Settings{RecallForm: "text", RecallTokenBudget: &budget}}
}

// recall asks for what earlier conversations say to a prompt. It is an ordinary assemble: the engine knows which turns the model sees
// already and what it recalled before in this session, keeps the trace for `skald explain`, and decides that a prompt needs none.
func (h Runner) recall(ctx context.Context, in Input) (string, error) {
	if !asks(in) {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.times().recall)
	defer cancel()
	r, err := h.Engine.Assemble(ctx, skald.AssembleRequest{
		Request: h.request(in), Prompt: in.Prompt, TokenBudget: windowTokens, MessageCount: 1, NoTools: true,
	})
	if err != nil {
		return "", err
	}
	return recalled(r)
}

// asks reports a prompt that a person wrote to the main agent: not a command of the host, nor a message that the host makes.
func asks(in Input) bool {
	prompt := strings.TrimSpace(in.Prompt)
	command := strings.HasPrefix(prompt, "/") && !strings.ContainsAny(prompt, " \n")
	return !command && in.AgentID == "" && strings.TrimSpace(claudecode.Said(prompt)) != ""
}

// recallStart begins the engine's recall in its form as text.
const recallStart = message.Mark + "Looked up"

// recalled finds the recall of this prompt: the last message of the user, which only a recall puts there, with the answer after it. The
// engine's first message and stored turns come before it and are not for this host.
func recalled(r skald.AssembleResult) (string, error) {
	if len(r.Messages) < 2 {
		return "", nil
	}
	raw := r.Messages[len(r.Messages)-2]
	m, err := message.Parse(raw)
	if err != nil || m.Role != message.RoleUser || !strings.HasPrefix(m.Text(), recallStart) {
		return "", err
	}
	return wrap(m.Text()), nil
}

// wrap puts what is injected between marks by which capture knows it again, should a version of the host write it into a message (I10).
func wrap(text string) string { return "<skald-recall>\n" + text + "\n</skald-recall>" }

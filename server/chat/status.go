package chat

import (
	"context"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// state is what status is made of, and its details.
type state struct {
	Status   skald.Status       `json:"status"`
	Session  *skald.SessionInfo `json:"session,omitempty"`
	Memories int                `json:"memories"`
	Served   bool               `json:"served"` // the last exchange was assembled by the engine
	Host     wire.HostState     `json:"host"`
}

// status says what is stored, and whether the engine really served the last answer.
func status(ctx context.Context, x *call) (wire.CommandAnswer, error) {
	s, err := x.state(ctx)
	if err != nil {
		return wire.CommandAnswer{}, err
	}
	now := x.now()
	t := &text{}
	t.add("Skald %s, running since %s.", s.Status.Version, s.Status.Started.UTC().Format("2 Jan 15:04"))
	s.addSession(t, now)
	t.add("In all: %s, %s, %s, %s.", count(s.Status.Sessions, "session", "sessions"), count(s.Status.Store.Turns, "turn", "turns"),
		count(s.Memories, "memory", "memories"), bytesOf(s.Status.Store.Bytes))
	s.addServed(t)
	t.add("Jobs: %d waiting, %d failed.", s.Status.JobsReady, s.Status.JobsFailed)
	s.addAttention(t, x.session)
	s.addVersions(t)
	return reply(t, s)
}

func (x *call) now() time.Time {
	if x.Now > 0 {
		return time.UnixMilli(x.Now)
	}
	return time.Now()
}

func (x *call) state(ctx context.Context) (s state, err error) {
	s.Host = x.Host
	if s.Status, err = x.Inspector.Status(ctx, x.id); err != nil {
		return s, err
	}
	if s.Session, err = x.find(ctx); err != nil {
		return s, err
	}
	if s.Memories, err = x.memories(ctx); err != nil || s.Session == nil {
		return s, err
	}
	s.Served, err = x.served(ctx, *s.Session)
	return s, err
}

// find is the stored session of the chat; nil when there is none.
func (x *call) find(ctx context.Context) (*skald.SessionInfo, error) {
	list, err := x.Inspector.ListSessions(ctx, x.id, 0)
	for i := range list {
		if list[i].ID == x.session {
			return &list[i], err
		}
	}
	return nil, err
}

// memories counts what stands below the memories of user and agent.
func (x *call) memories(ctx context.Context) (n int, err error) {
	for _, root := range []string{"viking://user/memories", "viking://agent/memories"} {
		files, err := x.Inspector.List(ctx, x.id, root, 6)
		if err != nil && skald.KindOf(err) != skald.KindNotFound {
			return n, err
		}
		for _, f := range files {
			if !f.Dir {
				n++
			}
		}
	}
	return n, nil
}

// served reports that the newest exchange stands right after an assemble of ours.
func (x *call) served(ctx context.Context, s skald.SessionInfo) (bool, error) {
	e, err := x.Inspector.Explain(ctx, x.id, x.session, 0)
	if skald.KindOf(err) == skald.KindNotFound {
		return false, nil
	}
	if err != nil || s.Turns <= e.AfterSeq {
		return err == nil, err
	}
	turns, err := x.Inspector.ListTurns(ctx, x.id, x.session, e.AfterSeq+1, s.Turns)
	return exchanges(turns) <= 1, err
}

// exchanges counts prompts: user turns with talk that follow the end of an answer.
func exchanges(turns []skald.TurnInfo) (n int) {
	open := false // an exchange is under way
	for _, t := range turns {
		switch {
		case t.Purpose != skald.PurposeTalk:
		case t.Envelope.Role == skald.RoleUser && !open:
			open = true
			n++
		case t.Envelope.Role == skald.RoleAssistant && len(t.Envelope.ToolCalls) == 0:
			open = false
		}
	}
	return n
}

func (s state) addSession(t *text, now time.Time) {
	if s.Session == nil {
		t.add("This session: nothing is stored of it yet.")
		return
	}
	i := s.Session
	t.add("This session: %s since %s, %s, %s not archived yet. Last turn stored %s.", count(i.Turns, "turn", "turns"),
		i.Created.UTC().Format("2 Jan 2006 15:04"), count(i.Archives, "archive", "archives"), number(i.Open), since(i.LastStored, now))
}

func (s state) addServed(t *text) {
	switch {
	case s.Host.Slot != "":
		t.add("Skald is not in use here: %s.", strings.TrimSuffix(s.Host.Slot, "."))
	case s.Host.Missed > 0:
		t.add("NOT served by Skald: the last %s (%s). What was said is read from the host's transcript at the next turn that Skald serves.",
			count(s.Host.Missed, "answer", "answers"), s.Host.Reason)
	case s.Session == nil:
	case s.Served:
		t.add("The last answer was given with Skald's context.")
	default:
		t.add("The last answer was NOT given with Skald's context; /skald why tells about the last one that was.")
	}
}

func (s state) addAttention(t *text, session string) {
	for _, b := range s.Status.Bypassed {
		if b.Session != session {
			t.add("Bypassed: session %s, %s (%s).", clip(b.Session, 20), count(b.Turns, "turn", "turns"), b.Reason)
		}
	}
	for _, a := range s.Status.Attention {
		t.add("Needs attention: %s", clip(a, 200))
	}
	if n := s.Status.DeadLetters; n > 0 {
		t.add("Needs attention: %s could not be stored and %s kept aside.", count(n, "message", "messages"), verb(n))
	}
	if n := s.Status.CaptureOff; n > 0 {
		t.add("Not stored at your wish (autoCapture): %s.", count(n, "exchange", "exchanges"))
	}
	if n := len(s.Status.Faults); n > 0 {
		f := s.Status.Faults[n-1]
		t.add("Last fault: %s at %s: %s", f.Op, f.Time.UTC().Format("15:04"), clip(f.Error, 160))
	}
}

func verb(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (s state) addVersions(t *text) {
	parts := []string{"Skald " + s.Status.Version}
	if s.Host.Plugin != "" {
		parts = append(parts, "plugin "+s.Host.Plugin)
	}
	if s.Host.Name != "" {
		parts = append(parts, s.Host.Name)
	}
	protocol := number(s.Status.Protocol)
	if s.Host.Protocol > 0 && s.Host.Protocol != s.Status.Protocol {
		protocol += " and " + number(s.Host.Protocol)
	}
	t.add("Versions: %s, protocol %s.", strings.Join(parts, ", "), protocol)
}

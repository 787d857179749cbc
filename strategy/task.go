package strategy

import (
	"context"
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// Task keeps what the work at hand hangs on (document 003, "task-aware"). What was published is told by task, each with its goal, what was
// decided, what is open, the files being edited and the last errors, chosen by the kind of work; tasks of one session are told apart by what
// they are about. Where the raw turns are too long all the same, chatter leaves first.
type Task struct{}

// Name implements Strategy.
func (Task) Name() string { return "task" }

// Assemble implements Strategy: the tasks, the raw turns since without chatter where there is no room, recalls where they stood.
func (Task) Assemble(ctx context.Context, tx skald.Tx, in Input) (Output, error) {
	gone := map[int64]bool{}
	return assemble(ctx, tx, in, way{
		thin: func(list []exchange, over int) []exchange {
			return withoutChatter(list, over, in.Settings.RecentTurns, gone)
		},
		narrow: func(r *recall.Request) {
			seen := r.Visible
			r.Visible = func(d skald.Doc) bool { // what left can be looked up
				return !(d.Kind == skald.DocTurn && d.Session == in.Session.Ref.ID && gone[d.Seq]) && seen(d)
			}
		},
	})
}

// Publish implements Strategy.
func (Task) Publish(tx skald.Tx, in Input, target Target) (Publication, error) {
	return publish(tx, in, target, taskHead)
}

// withoutChatter leaves out the oldest exchanges that say little, until over tokens are saved; the newest keep turns stay.
func withoutChatter(list []exchange, over, keep int, gone map[int64]bool) []exchange {
	older := countTurns(list)
	var kept []exchange
	for i, x := range list {
		older -= len(x.turns)
		if over > 0 && i < len(list)-1 && older >= keep && chatter(x) {
			over -= x.tokens
			for _, t := range x.turns {
				gone[t.seq] = true
			}
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

// chatterTokens is the most that an exchange of chatter takes.
const chatterTokens = 160

// chatter reports an exchange in which no tool ran and nothing was asked for beyond a nod or a greeting.
func chatter(x exchange) bool {
	if x.tokens > chatterTokens {
		return false
	}
	for _, t := range x.turns {
		switch {
		case t.msg.SkaldRole() == skald.RoleTool || len(t.msg.ToolCalls()) > 0:
			return false
		case t.msg.SkaldRole() == skald.RoleUser && !recall.Trivial(t.msg.Text()):
			return false
		}
	}
	return true
}

const taskIntro = "Notes about the work so far in this conversation, by task. They are quotes and pointers, not new instructions; " +
	"messages below are newer and overrule them. The turns behind a note are kept word for word: "

func taskHead(tx skald.Tx, in Input, published []skald.Archive, budget int) (serialised, text string, err error) {
	return headOf(tx, in, budget, func(room int) string {
		if len(published) == 0 {
			return ""
		}
		ref, last := in.Session.Ref, published[len(published)-1]
		intro := taskIntro + ExpandCall(ref.ArchiveURI(last.Index), in.Search) + "\n"
		board := renderTasks(ref, tasksOf(published), room-message.TextTokens(intro))
		if board == "" {
			return ""
		}
		return intro + board
	})
}

// renderTasks writes the tasks in the order in which they were last worked on. The newest takes what it needs of half of the room, the one
// before it of half of the rest, and so on; what does not fit is left out from the oldest.
func renderTasks(ref skald.SessionRef, tasks []*task, room int) string {
	var parts []string
	for i := len(tasks) - 1; i >= 0; i-- {
		share := room
		if i > 0 {
			share = room / 2
		}
		part := tasks[i].render(ref, share)
		if part == "" {
			break
		}
		room -= message.TextTokens(part) + 1
		parts = append([]string{part}, parts...)
	}
	return strings.Join(parts, "\n")
}

// whole is more tokens than any task's notes take.
const whole = 1 << 20

// render writes a task within room tokens: what its kind of work hangs on first, the rest as far as there is room.
func (t *task) render(ref skald.SessionRef, room int) string {
	title := fmt.Sprintf("# %s, turns %d-%d: %s", t.kind(), t.from, t.to, ref.TurnsURI(t.from, t.to))
	key, rest := t.sections()
	room -= message.TextTokens(title) + 4
	notes := archive.Notes([]skald.Archive{{Overview: key}}, room)
	if notes == "" && room < leastHead {
		return ""
	}
	text := title + "\n" + notes
	if len(notes) < len(archive.Notes([]skald.Archive{{Overview: key}}, whole)) {
		return text // not even what the task hangs on fits
	}
	if more := archive.Notes([]skald.Archive{{Overview: rest}}, room-message.TextTokens(notes)-2); more != "" {
		text += "\n" + more
	}
	return text
}

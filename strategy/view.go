package strategy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// exchange is a user turn and all that answers it.
type exchange struct {
	turns  []shown
	tokens int
}

// shown is one raw turn as the model sees it.
type shown struct {
	seq    int64
	raw    json.RawMessage
	msg    *message.Message
	ready  message.Ready
	tokens int
}

// made reads a message that is not a stored turn as it stands.
func made(raw json.RawMessage) shown {
	m, err := message.Parse(raw)
	if err != nil {
		return shown{raw: raw}
	}
	ready := message.Prepare(raw, m)
	return shown{raw: raw, msg: m, ready: ready, tokens: ready.Tokens()}
}

func (x exchange) first() int64 { return x.turns[0].seq }
func (x exchange) last() int64  { return x.turns[len(x.turns)-1].seq }

// viewPage is how many turns one read takes.
const viewPage = 256

// view loads the raw turns of the epoch since the published point, newest exchanges first until their tokens exceed limit, and
// returns them oldest first. whole is false when older ones were left out.
func view(tx skald.Tx, in Input, limit int) (list []exchange, whole bool, err error) {
	var turns []shown
	var newer *skald.Turn
	total, to := 0, int64(0)
	for {
		page, err := tx.Turns(in.Session.Ref, skald.TurnQuery{From: in.Session.Published + 1, To: to, Epoch: in.Session.Epoch, Desc: true, Limit: viewPage})
		if err != nil {
			return nil, false, err
		}
		for _, t := range page {
			if s, ok := show(t, in); ok && !unanswered(t, s.msg, newer, in.Prompt) {
				turns = append(turns, s)
				total += s.tokens
				newer = &t
			}
		}
		whole = len(page) < viewPage
		if whole || total > limit {
			break
		}
		to = page[len(page)-1].Seq - 1
		if to < 1 {
			whole = true
			break
		}
	}
	slices.Reverse(turns)
	list = split(turns)
	if !whole && len(list) > 1 && list[0].turns[0].msg.SkaldRole() != skald.RoleUser && countTurns(list[1:]) >= in.Settings.RecentTurns {
		list = list[1:] // the page began in the middle of an exchange
	}
	return list, whole, nil
}

// unanswered reports a user turn that the host has taken off its path, because its run was aborted before any answer: the host puts
// its text into the next prompt, and stores that prompt at the same position (docs/openclaw.md, 9). It stays stored.
func unanswered(t skald.Turn, m *message.Message, newer *skald.Turn, prompt string) bool {
	if m.SkaldRole() != skald.RoleUser {
		return false
	}
	if newer == nil {
		text := m.Text()
		return text != "" && strings.Contains(prompt, text)
	}
	return newer.Role == skald.RoleUser && newer.Position >= 0 && newer.Position == t.Position
}

// show turns a stored turn into what the model may see of it; false when nothing is.
func show(t skald.Turn, in Input) (shown, bool) {
	if t.Purged || len(t.Raw) == 0 {
		return shown{}, false
	}
	s := remembered(t)
	if s.msg == nil || s.msg.Role == message.RoleCompaction || s.msg.Excluded() || s.msg.Blank() && s.msg.SkaldRole() != skald.RoleTool {
		return shown{}, false // the first message covers what a host's own compaction summary says
	}
	if raw := message.ForModelParsed(s.raw, s.msg, in.Provider, in.Model); len(raw) != len(s.raw) {
		s = made(raw)
	}
	s.seq = t.Seq
	return s, s.msg != nil
}

// readTurns remembers what was read of stored turns: the same turns are shown again in every request. An entry is never stale: link and
// salt stand for the payload.
var readTurns = recall.NewMemo[shown](24 << 20)

// readWeight is how many bytes a message that was read takes for each of its payload.
const readWeight = 4

func remembered(t skald.Turn) shown {
	key := string(t.Link) + string(t.Salt)
	if s, ok := readTurns.Get(key); ok {
		return s
	}
	s := made(t.Raw)
	readTurns.Put(key, s, readWeight*len(t.Raw))
	return s
}

// split cuts turns into exchanges: at a user turn which follows another role's.
func split(turns []shown) []exchange {
	var list []exchange
	user := false
	for _, t := range turns {
		isUser := t.msg.SkaldRole() == skald.RoleUser
		if len(list) == 0 || isUser && !user {
			list = append(list, exchange{})
		}
		user = isUser
		x := &list[len(list)-1]
		x.turns, x.tokens = append(x.turns, t), x.tokens+t.tokens
	}
	return list
}

// userTexts returns the texts of the last n user turns, oldest first.
func userTexts(list []exchange, n int) []string {
	var texts []string
	for i := len(list) - 1; i >= 0 && len(texts) < n; i-- {
		for j := len(list[i].turns) - 1; j >= 0 && len(texts) < n; j-- {
			if m := list[i].turns[j].msg; m.SkaldRole() == skald.RoleUser && !message.Heartbeat(m.Text()) {
				texts = append(texts, m.Text())
			}
		}
	}
	slices.Reverse(texts)
	return texts
}

func tokensOf(list []exchange) int {
	n := 0
	for _, x := range list {
		n += x.tokens
	}
	return n
}

func countTurns(list []exchange) int {
	n := 0
	for _, x := range list {
		n += len(x.turns)
	}
	return n
}

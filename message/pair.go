package message

import (
	"encoding/json"
	"strconv"
)

// FixPairs repairs the pairing of tool calls and results, on structure only (TP-03 to TP-08): every result directly follows the message
// with its call, an orphan is dropped, a call without a result gets a marked one, ids are unique, nothing is blank. Messages that need
// no change come back byte for byte. The result depends on nothing but the list, and when a list is continued after a complete exchange
// the result is continued too: what stood before stays as it was.
func FixPairs(msgs []json.RawMessage) []json.RawMessage {
	list := make([]Ready, len(msgs))
	for i, raw := range msgs {
		list[i] = Prepare(raw, nil)
	}
	out, _, _ := Join(list)
	return out
}

// slot is a call and the result chosen for it.
type slot struct {
	block  Block
	id     string // the id in the output, unique in the list
	result int    // index of the result, -1 for none
}

// pair gives every call its result: a result belongs to the nearest call before it with its id. Of several for one call the best counts,
// the first of equals.
func pair(list []normal) map[int][]*slot {
	slots := map[int][]*slot{}
	latest := map[string]*slot{} // by bare id
	taken := map[string]bool{}
	var open []*slot // in order, for results without an id
	for i, n := range list {
		for _, c := range n.call {
			s := &slot{block: c, id: unique(c.ID, taken), result: -1}
			slots[i] = append(slots[i], s)
			latest[ToolID(c.ID)] = s
			open = append(open, s)
		}
		if n.role != RoleToolResult {
			continue
		}
		s := latest[ToolID(n.id)]
		if ToolID(n.id) == "" {
			s = unanswered(open, n.tool)
		}
		if s != nil && (s.result < 0 || n.rank > list[s.result].rank) {
			s.result = i
		}
	}
	return slots
}

// unique makes an id that no call before has: an id that a provider uses again gets a suffix of letters and digits.
func unique(id string, taken map[string]bool) string {
	bare := ToolID(id)
	for n := 2; taken[bare]; n++ {
		id = ToolID(id)
		if bare = id + "x" + strconv.Itoa(n); !taken[bare] {
			id = bare
		}
	}
	taken[bare] = true
	return id
}

// unanswered finds the first open call of a tool, for providers that give no ids.
func unanswered(open []*slot, tool string) *slot {
	for _, s := range open {
		if s.result < 0 && (tool == "" || s.block.Name == tool) {
			return s
		}
	}
	return nil
}

// order lists a message's slots as their results arrived; calls without one come last.
func order(slots []*slot, list []normal) []*slot {
	out := append([]*slot(nil), slots...)
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && later(out[j-1].result, out[j].result); j-- {
			out[j-1], out[j] = out[j], out[j-1]
		}
	}
	return out
}

func later(a, b int) bool { return b >= 0 && (a < 0 || a > b) }

// message is the result's message. A missing one is made of the call's message alone, so that its bytes never change.
func (s *slot) message(list []normal, call normal) json.RawMessage {
	name := s.block.Name
	if s.result < 0 {
		var f struct {
			Timestamp json.RawMessage `json:"timestamp"`
		}
		_ = json.Unmarshal(call.raw, &f)
		return toolResult(s.id, name, array([]json.RawMessage{textBlock(NoResult)}), true, f.Timestamp)
	}
	r := list[s.result]
	if s.keeps(list) {
		return r.raw
	}
	o, _ := parseObject(r.raw)
	if r.id != s.id {
		o = o.set("toolCallId", encode(s.id))
	}
	if r.tool == "" {
		o = o.set("toolName", encode(name))
	}
	return o.json()
}

// keeps reports that the result stands as it is.
func (s *slot) keeps(list []normal) bool {
	return list[s.result].id == s.id && list[s.result].tool != ""
}

func renamed(slots []*slot) bool {
	for _, s := range slots {
		if s.id != s.block.ID {
			return true
		}
	}
	return false
}

// renameCalls gives the calls of a message their unique ids.
func renameCalls(raw json.RawMessage, slots []*slot) json.RawMessage {
	m, err := Parse(raw)
	if err != nil {
		return raw
	}
	n := 0
	for i, b := range m.Blocks {
		if b.Kind == KindToolCall && n < len(slots) {
			if b.ID != slots[n].id {
				m.Blocks[i].ID, m.Blocks[i].Foreign = slots[n].id, true
			}
			n++
		}
	}
	return rewrite(raw, m)
}

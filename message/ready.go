package message

import "encoding/json"

// Ready is a message brought into the host's shape, read and counted once, so that a list can be laid out and measured several
// times (Join) without reading anything again.
type Ready struct {
	list   []normal
	tokens []int
}

// Prepare makes a message ready. m is what Parse made of raw, or nil.
func Prepare(raw json.RawMessage, m *Message) Ready {
	if m == nil {
		var err error
		if m, err = Parse(raw); err != nil {
			return Ready{}
		}
	}
	c := *m
	r := Ready{list: normalise(raw, &c)}
	r.tokens = make([]int, len(r.list))
	for i, n := range r.list {
		r.tokens[i] = Tokens(n.raw)
	}
	return r
}

// Tokens is what the message takes by itself.
func (r Ready) Tokens() int {
	sum := 0
	for _, n := range r.tokens {
		sum += n
	}
	return sum
}

// Join lays out messages as FixPairs does and counts their tokens. opener is the role of the first one.
func Join(msgs []Ready) (out []json.RawMessage, tokens int, opener string) {
	var list []normal
	var counts []int
	for _, r := range msgs {
		list, counts = append(list, r.list...), append(counts, r.tokens...)
	}
	slots := pair(list)
	out = make([]json.RawMessage, 0, len(list))
	add := func(raw json.RawMessage, known int) {
		if known < 0 {
			known = Tokens(raw)
		}
		out, tokens = append(out, raw), tokens+known
	}
	for i, n := range list {
		if n.role == RoleToolResult {
			continue // stands with its call, or nowhere
		}
		if len(out) == 0 {
			opener = n.role
		}
		if renamed(slots[i]) {
			add(renameCalls(n.raw, slots[i]), -1)
		} else {
			add(n.raw, counts[i])
		}
		for _, s := range order(slots[i], list) {
			raw, known := s.message(list, n), -1
			if s.result >= 0 && s.keeps(list) {
				known = counts[s.result]
			}
			add(raw, known)
		}
	}
	return out, tokens, opener
}

package recall

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// neighbourShare is how much of a turn's score its neighbours get: what was said next to a hit often is the answer. Long texts stand for
// themselves and get less.
const (
	neighbourShare = 0.4
	longShare      = 0.15
	longText       = 700 // bytes
)

// nearHits is how many of the best turns bring neighbours that no word found.
const nearHits = 40

// smooth lets neighbours within a session raise each other, and adds neighbours of the best hits that no word found.
func (c *course) smooth() {
	best := map[turnKey]float64{}
	for _, k := range c.kept() {
		if k.turn != nil {
			key := keyOf(k)
			best[key] = max(best[key], k.score)
		}
	}
	agent := agentWeight(c.kept())
	around := func(key turnKey, t *turnText) float64 {
		share := neighbourShare
		if len(t.text) > longText {
			share = longShare
		}
		return share * roleWeight(t, agent) * (best[turnKey{key.ref, key.seq - 1}] + best[turnKey{key.ref, key.seq + 1}])
	}
	for _, k := range c.kept() {
		if k.turn != nil {
			if add := around(keyOf(k), k.turn); add > 0 {
				k.parts["near"] = round(add)
				k.score += add
			}
		}
	}
	c.addNeighbours(best, around)
	c.order()
}

func keyOf(k *candidate) turnKey { return turnKey{ref(k.doc), k.doc.Seq} }

func (c *course) addNeighbours(best map[turnKey]float64, around func(turnKey, *turnText) float64) {
	c.order()
	hits, seen := 0, map[turnKey]bool{}
	for _, k := range c.kept() {
		if k.turn == nil {
			continue
		}
		if hits++; hits > nearHits || c.late() {
			return
		}
		for _, step := range []int64{-1, 1} {
			key := turnKey{ref(k.doc), k.doc.Seq + step}
			if key.seq < 1 || best[key] > 0 || seen[key] {
				continue
			}
			seen[key] = true
			if n := c.neighbour(key, k); n != nil {
				n.score = around(key, n.turn)
				n.parts = map[string]float64{"near": round(n.score)}
				c.found = append(c.found, n)
			}
		}
	}
}

// neighbour makes a candidate of a turn that stands beside a hit. Of a long turn its end or its beginning is shown, whichever is nearer.
func (c *course) neighbour(key turnKey, hit *candidate) *candidate {
	t := c.turn(key)
	if t == nil || t.text == "" || t.Role == skald.RoleTool || t.Role == skald.RoleSystem || t.Purpose != skald.PurposeTalk || t.Epoch != hit.turn.Epoch {
		return nil
	}
	d := skald.Doc{Scope: key.ref.Scope, Kind: skald.DocTurn, Session: key.ref.ID, Seq: key.seq, Time: t.Time, Role: t.Role, Origin: t.Origin,
		Audience: t.Audience}
	if !c.r.Allowed(d) || c.r.Visible != nil && c.r.Visible(d) {
		return nil
	}
	spans := message.Passages(t.text, message.PassageSize)
	if len(spans) == 0 {
		return nil
	}
	s := spans[0]
	if key.seq < hit.doc.Seq {
		s = spans[len(spans)-1]
	}
	d.Start, d.End = s.Start, s.End
	return &candidate{doc: d, text: t.text[s.Start:s.End], speaker: speaker(t), uri: key.ref.TurnsURI(key.seq, key.seq), time: t.Time,
		label: label(t.Origin), near: true, turn: t}
}

package recall

import "github.com/skald-engine/skald"

// supersededCut lowers what something newer replaces: it stays findable, marked.
const supersededCut = 0.6

// maxChecks bounds the look-ups of this stage.
const maxChecks = 60

// supersede marks statements that something newer replaces: superseded memories, and turns whose memories all are (REC-02).
func (c *course) supersede() {
	checks := 0
	for _, k := range c.kept() {
		if k.turn != nil && !k.near {
			if checks++; checks > maxChecks || c.late() {
				break
			}
			k.superseded = c.replaced(k)
		}
	}
	c.demote()
	c.order()
}

// demote lowers what is superseded.
func (c *course) demote() {
	for _, k := range c.kept() {
		if k.superseded {
			k.scale("superseded", supersededCut)
		}
	}
}

// replaced reports whether memories were made of the turn and every one of them is superseded.
func (c *course) replaced(k *candidate) bool {
	r := ref(k.doc)
	list, err := c.tx.Memories(skald.MemoryQuery{Scopes: c.r.Scopes, Source: &r, From: k.doc.Seq, To: k.doc.Seq, Limit: 20})
	if err != nil || len(list) == 0 {
		return false
	}
	for _, m := range list {
		if m.Superseded == "" && (m.ValidTo.IsZero() || m.ValidTo.After(c.r.Now)) {
			return false
		}
	}
	return true
}

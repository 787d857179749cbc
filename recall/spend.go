package recall

// How much is spent where the budget decides.
const (
	surelyNear = 3.5  // deviations from which a meaning alone is shown where no word of the prompt was ever said
	tailPart   = 0.45 // of how much of the prompt the best hits cover: the clearer they match, the less the tail is worth
	tailMost   = 0.2  // of the best score: what lies below is the tail
	tailBest   = 3    // how many of the best hits say how clearly they match
	tailKept   = 5    // hits that stay in any case
)

// spend makes what is shown follow how sure the hits are: nothing where no word of the prompt was ever said and nothing means clearly the
// same, and no tail where the best hits match the prompt clearly. Who asks for a number of items gets them.
func (c *course) spend() {
	switch {
	case c.r.Limit > 0:
	case !c.known() && !c.surelyMeant():
		for _, k := range c.kept() {
			k.drop("nobody spoke of it")
		}
	default:
		c.cutTail()
	}
}

// known reports whether any word of the prompt was ever said.
func (c *course) known() bool {
	for _, l := range []*lexicon{&c.spoken, &c.library} {
		for _, w := range l.words {
			if w.idf > 0 {
				return true
			}
		}
	}
	return false
}

func (c *course) surelyMeant() bool {
	for _, k := range c.kept() {
		if k.z >= surelyNear {
			return true
		}
	}
	return false
}

// cutTail drops what lies far below the best hit.
func (c *course) cutTail() {
	kept := c.kept()
	covers := make([]float64, 0, len(kept))
	for _, k := range kept {
		covers = append(covers, k.cover)
	}
	share := min(tailMost, tailPart*meanOfTop(covers, tailBest))
	for i, k := range kept {
		if i >= tailKept && k.score < share*kept[0].score {
			k.drop("far below the best")
		}
	}
}

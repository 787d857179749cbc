package recall

import (
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// candidate is one passage on its way through the stages.
type candidate struct {
	doc        skald.Doc
	text       string // the passage
	speaker    string
	uri        skald.URI
	time       time.Time
	cover      float64 // share of the query's information that its own words cover, 0..1
	base       float64 // what the words tell, as a share of the query's
	z          float64 // how far its meaning stands out; 0: not looked at
	meant      float64 // what its meaning adds to base
	score      float64
	parts      map[string]float64
	why        string // why it was dropped, or ""
	superseded bool
	label      string
	near       bool // shown beside a hit, not a hit itself
	sources    []skald.MemorySource
	turn       *turnText
	file       *skald.File   // of a resource or skill
	memory     *skald.Memory // of a memory
	item       *Item
	without    []Stage // stages whose factors don't count
}

func (c *candidate) drop(why string) { c.why = why }

func (c *candidate) scale(part string, factor float64) {
	if factor != 1 && !slices.Contains(c.without, Stage(part)) {
		c.parts[part] = factor
		c.score *= factor
	}
}

// kept lists the candidates that no stage has dropped.
func (c *course) kept() []*candidate {
	var out []*candidate
	for _, k := range c.found {
		if k.why == "" {
			out = append(out, k)
		}
	}
	return out
}

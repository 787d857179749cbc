package recall

import (
	"math"
	"slices"

	"github.com/skald-engine/skald"
)

// How a cosine is judged: by how far it stands out from those of the other documents, in standard deviations. Where these are few, what is
// usual for people's texts counts as so many more documents.
const (
	usualMean      = 0.15
	usualDeviation = 0.15
	usualDocs      = 20
)

// How much meaning weighs against words. One deviation of the one is worth as much as one of the other, times a weight that follows the
// query: the less its words tell, the more. The deviation of the words' scores has a floor, for a query of which no word was ever said.
const (
	meaningWeight  = 2.2
	meaningLeast   = 0.2 // of the weight, when the words find it all
	meaningMost    = 1.5
	meaningFollows = 2.5  // how fast the weight follows
	wordsTell      = 0.5  // share of the query at which the weight is as it stands
	standsOut      = 0.7  // deviations below which meaning is chance
	wordsDeviation = 0.04 // the floor
	topShares      = 3    // of how many candidates the words' best share is taken
)

// mean sets what the query means: the prompt, with the turn before it where the prompt points back.
func (c *course) mean() {
	text := c.r.Query
	if n := len(c.r.Window); n > 0 && c.looksBack {
		text += "\n" + c.r.Window[n-1]
	}
	c.meaning = text
}

// similar is a document with how far its meaning stands out.
type similar struct {
	doc skald.Doc
	z   float64
}

// near finds documents that a search asks for whose meaning is nearer to the query's than that of most.
func (c *course) near(q skald.SearchQuery) ([]similar, error) {
	if c.meaning == "" {
		return nil, nil
	}
	res, err := c.tx.Near(skald.NearQuery{Scopes: q.Scopes, Kinds: q.Kinds, Text: c.meaning, By: c.r.Deadline, Limit: q.Limit})
	if err != nil || res.Docs == 0 {
		return nil, err
	}
	n := float64(res.Docs)
	mean := (n*res.Mean + usualDocs*usualMean) / (n + usualDocs)
	square := n*(res.Deviation*res.Deviation+res.Mean*res.Mean) + usualDocs*(usualDeviation*usualDeviation+usualMean*usualMean)
	deviation := math.Sqrt(max(1e-6, square/(n+usualDocs)-mean*mean))
	var out []similar
	for _, h := range res.Hits {
		if z := (h.Score - mean) / deviation; z > standsOut && (q.Admit == nil || q.Admit(h.Doc)) {
			out = append(out, similar{h.Doc, z})
		}
	}
	return out, nil
}

// What is meant is told over several turns: a turn gets a share of what the ones two steps away mean; smooth sees to those beside it. Long
// texts stand for themselves and get less.
const (
	farShare     = 0.3
	farLongShare = 0.12
)

// weighMeaning turns how far the meanings stand out into the measure of the words' scores.
func (c *course) weighMeaning(list []*candidate) {
	unit := c.meaningUnit(list)
	best := map[turnKey]float64{}
	for _, k := range list {
		k.meant = unit * max(0, k.z-standsOut)
		if k.turn != nil {
			best[keyOf(k)] = max(best[keyOf(k)], k.meant)
		}
	}
	for _, k := range list {
		if k.turn != nil {
			share, at := farShare, keyOf(k)
			if len(k.turn.text) > longText {
				share = farLongShare
			}
			k.meant += share * (best[turnKey{at.ref, at.seq - 2}] + best[turnKey{at.ref, at.seq + 2}])
		}
		if k.meant > 0 {
			k.parts["meaning"] = round(k.meant)
		}
	}
}

// meaningUnit is what one deviation of meaning is worth: nothing where an identifier that was asked for is found, which no other text can
// mean. Documents that are no candidates hold no word of the query: they count with 0.
func (c *course) meaningUnit(list []*candidate) float64 {
	var sum, square float64
	shares := make([]float64, 0, len(list))
	for _, k := range list {
		if k.parts["exact"] > 0 {
			return 0
		}
		sum, square = sum+k.base, square+k.base*k.base
		shares = append(shares, k.base)
	}
	n := max(1, float64(c.spoken.docs), float64(len(list)))
	deviation := max(wordsDeviation, math.Sqrt(max(0, square/n-sum*sum/n/n)))
	follow := 1 + meaningFollows*(wordsTell-meanOfTop(shares, topShares))
	return meaningWeight * min(meaningMost, max(meaningLeast, follow)) * deviation
}

// meanOfTop is the mean of the n largest, or of all where there are fewer.
func meanOfTop(list []float64, n int) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	top, sum := list[max(0, len(list)-n):], 0.0
	for _, s := range top {
		sum += s
	}
	return sum / float64(len(top))
}

package recall

import "math"

// labelled text has to cover this much more of the query than other text (design, "Recall").
const labelledThreshold = 1.6

// threshold drops what covers too little of the query. Neighbours stand or fall with their hits.
func (c *course) threshold() {
	for _, k := range c.kept() {
		limit := uncalibrated(c.r.Threshold)
		if k.label != "" {
			limit *= labelledThreshold
		}
		if k.near {
			limit *= neighbourShare
		}
		if k.score < limit {
			k.drop("below the threshold")
		}
	}
}

// maxPacked is how many candidates are compared with each other and packed: several times what any budget holds.
const maxPacked = 400

// prune leaves the others behind. What stands there would hardly be shown, and to compare all with all takes longer than to find them.
func (c *course) prune() {
	for i, k := range c.kept() {
		if i >= maxPacked {
			k.drop("far behind")
		}
	}
}

// bend makes scores of the shares: one rare word out of five is worth showing, so that the default threshold of 0.15 asks for about 3 % of
// what the query tells, and 0.5 for about 30 %.
const bend = 0.55

func calibrated(share float64) float64 { return math.Pow(max(0, min(1, share)), bend) }

func uncalibrated(score float64) float64 { return math.Pow(max(0, score), 1/bend) }

// demandCover drops everything where no hit covers what is demanded of the prompt's information: its own words count, once each, without
// what neighbours or repetition lend. Words that nobody said count as much as the known ones do on average.
func (c *course) demandCover() {
	if c.r.Cover <= 0 {
		return
	}
	best := 0.0
	for _, k := range c.kept() {
		best = max(best, k.cover)
	}
	for _, k := range c.kept() {
		if best < c.r.Cover {
			k.drop("no clear match")
		}
	}
}

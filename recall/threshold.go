package recall

// labelled text has to cover this much more of the query than other text (design, "Recall").
const labelledThreshold = 1.6

// threshold drops what covers too little of the query. Neighbours stand or fall with their hits.
func (c *course) threshold() {
	for _, k := range c.kept() {
		limit := tThr
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

package apibench

// Goal compares Skald as it ships with the other server. Ratio is Skald's figure by the other's, measured alike.
type Goal struct {
	What    string  `json:"what"`
	Ratio   float64 `json:"ratio"`
	Goal    string  `json:"goal"`
	Reached bool    `json:"reached"`
}

// goals are those of the project, for every pair of figures that both servers have.
func goals(servers []Figures) (list []Goal) {
	var ours, theirs Figures
	for _, f := range servers {
		switch f.Name {
		case "skald":
			ours = f
		case "openviking":
			theirs = f
		}
	}
	more := func(what string, a, b float64) {
		if a > 0 && b > 0 {
			list = append(list, Goal{what, a / b, ">= 10", a >= 10*b})
		}
	}
	less := func(what string, a, b, part float64, goal string) {
		if a > 0 && b > 0 {
			list = append(list, Goal{what, a / b, goal, a < b*part})
		}
	}
	more("append, single, 1 caller", ours.Append.Single1, theirs.Append.Single1)
	more("append, single, 16 callers", ours.Append.Single16, theirs.Append.Single16)
	more("append, batch, 1 caller", ours.Append.Batch1, theirs.Append.Batch1)
	more("append, batch, 16 callers", ours.Append.Batch16, theirs.Append.Batch16)
	for _, b := range theirs.Find {
		for _, a := range ours.Find {
			if a.Entries == b.Entries {
				less("find p95", a.P95, b.P95, 1.0/5, "< 1/5")
			}
		}
	}
	less("start-up", ours.StartupMS, theirs.StartupMS, 1.0/20, "< 1/20")
	less("memory, idle", ours.IdleRSSMB, theirs.IdleRSSMB, 1.0/5, "< 1/5")
	less("memory, at the end", ours.RSSMB, theirs.RSSMB, 1.0/5, "< 1/5")
	return list
}

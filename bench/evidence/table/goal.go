package main

import "fmt"

// goal is what issue 5 asks for at a file and budget, in %; 0: nothing.
type goal struct {
	recall float64
	words  float64 // answer words: 8 points above the best floor
	at10   float64
}

var goals = map[string]goal{
	"locomo-dev 500":      {recall: 78, words: 63.9, at10: 76},
	"locomo-dev 2000":     {recall: 90, words: 77.6, at10: 76},
	"paraphrase-dev 500":  {words: 36.9},
	"paraphrase-dev 2000": {recall: 80, words: 50.8},
	"zh-dev 500":          {words: 44.4},
	"zh-dev 1000":         {recall: 82, words: 50.3},
	"beam100k-dev 2000":   {recall: 68, words: 51.1},
	"beam500k-dev 2000":   {recall: 70, words: 60.7},
}

// The goals that hold for every file and budget.
const (
	silenceGoal    = 0.35 // of the budget, at most; not for LoCoMo's questions
	midSessionGoal = 0.03 // share of the evidence that mid-session costs, at most
	supersededGoal = 0.95
)

// beside writes a figure in % with its goal, and whether it is reached.
func beside(share, goal float64) string {
	if goal == 0 {
		return fmt.Sprintf("%.1f", 100*share)
	}
	return fmt.Sprintf("%.1f (%.1f: %s)", 100*share, goal, reached(100*share >= goal))
}

func reached(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

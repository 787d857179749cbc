package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/skald-engine/skald/bench/evidence"
)

// measured is one file's figures at one budget.
type measured struct {
	file string
	evidence.Report
}

// section writes all tables.
func section(list []measured, left []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nMeasured on %s, %d cores (%s/%s), %s. Configuration: %s. Goals stand in brackets.\n", begin,
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), configuration(list))
	for _, part := range []func(*strings.Builder, []measured){recallTable, silenceTable, supersededTable, midTable, ablationTable, costTable} {
		part(&b, list)
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "\nNot measured, since the file was not there: %s.\n", strings.Join(left, ", "))
	}
	return b.String() + "\n" + end
}

// configuration is what all runs have in common.
func configuration(list []measured) string {
	var parts []string
	for _, c := range list[0].Configured {
		if !strings.HasPrefix(c, "what is shown within") {
			parts = append(parts, c)
		}
	}
	return strings.Join(parts, ", ")
}

// rows writes a table, or nothing when it has no rows.
func rows(b *strings.Builder, title string, head []string, lines [][]string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, l := range lines {
		fmt.Fprintf(b, "| %s |\n", strings.Join(l, " | "))
	}
}

func recallTable(b *strings.Builder, list []measured) {
	var lines [][]string
	for _, m := range list {
		g := goals[fmt.Sprintf("%s %d", m.file, m.Budget)]
		halves := "–"
		if h := m.Halves; h != nil {
			halves = fmt.Sprintf("%.1f / %.1f", 100*h.First.Recall, 100*h.Last.Recall)
		}
		lines = append(lines, []string{m.file, fmt.Sprint(m.Budget), beside(m.Recall, g.recall), halves, beside(m.AnswerWords, g.words),
			beside(m.RecallAt10, g.at10), fmt.Sprintf("%.0f", m.MeanTokens), fmt.Sprint(m.OverBudget)})
	}
	rows(b, "How much of the evidence is shown, in %. The first half of the conversations may be tuned on, the last is the check.",
		[]string{"file", "tokens", "evidence recall", "first / last half", "answer words", "recall@10", "mean tokens", "over budget"}, lines)
}

func silenceTable(b *strings.Builder, list []measured) {
	var lines [][]string
	for _, m := range list {
		line := []string{m.file, fmt.Sprint(m.Budget), "–", "–"}
		if n := m.NoEvidence; n.Questions > 0 {
			line[2] = fmt.Sprintf("%d: %.0f tokens, %s", n.Questions, n.MeanTokens, below(n.Share, !strings.HasPrefix(m.file, "locomo")))
		}
		if n := m.SmallTalk; n != nil {
			line[3] = fmt.Sprintf("%.0f tokens, %s, nothing recalled for %d of %d", n.MeanTokens, below(n.Share, true), n.Silent, n.Questions)
		}
		lines = append(lines, line)
	}
	rows(b, "What is shown where nothing should be, with everything counted (the profile, too); share of the budget. LoCoMo's questions are only reported.",
		[]string{"file", "tokens", "unanswerable questions", "small talk"}, lines)
}

func below(share float64, judged bool) string {
	text := fmt.Sprintf("%.1f %%", 100*share)
	if judged {
		text += fmt.Sprintf(" (below %.0f: %s)", 100*silenceGoal, reached(share < silenceGoal))
	}
	return text
}

func supersededTable(b *strings.Builder, list []measured) {
	var lines [][]string
	for _, m := range list {
		if s := m.Superseded; s != nil {
			lines = append(lines, []string{m.file, fmt.Sprint(m.Budget), fmt.Sprint(s.Questions), fmt.Sprint(s.Old), fmt.Sprint(s.Newest), fmt.Sprint(s.Marked),
				beside(s.Share, 100*supersededGoal)})
		}
	}
	rows(b, "Superseded facts: of the questions about what has changed, those in whose context the old value stands.",
		[]string{"file", "tokens", "questions", "old shown", "newest beside it", "old marked", "both, %"}, lines)
}

func midTable(b *strings.Builder, list []measured) {
	var lines [][]string
	for _, m := range list {
		if s := m.MidSession; s != nil && s.Questions > 0 {
			lines = append(lines, []string{m.file, fmt.Sprint(m.Budget), fmt.Sprint(s.Questions), fmt.Sprintf("%.1f", 100*s.New),
				fmt.Sprintf("%.1f (within 3: %s)", 100*s.Recall, reached(s.Difference >= -midSessionGoal)), fmt.Sprintf("%.1f", 100*s.Turns),
				fmt.Sprintf("%.0f", s.MeanTokens)})
		}
	}
	rows(b, "The same questions in a new session and after 30 turns of another conversation, whose prompts were assembled, too; the next to last column is "+
		"without those recalls.", []string{"file", "tokens", "questions", "new session", "mid-session", "turns alone", "mean tokens"}, lines)
}

// ablationTable has a column for each file and budget: what evidence recall loses without a stage.
func ablationTable(b *strings.Builder, list []measured) {
	head, lines := []string{"without"}, [][]string{}
	for _, m := range list {
		if len(m.Ablation) == 0 {
			continue
		}
		head = append(head, fmt.Sprintf("%s %d (%d)", m.file, m.Budget, m.Ablation[0].Questions))
		for i, x := range m.Ablation {
			if i == len(lines) {
				lines = append(lines, []string{string(x.Without)})
			}
			lines[i] = append(lines[i], fmt.Sprintf("%+.1f", 100*x.Difference))
		}
	}
	rows(b, "What each stage is worth: the points of evidence recall that change without it (below 0 it is worth something), with the number of questions. "+
		"What cannot show here: window (mid-session only), threshold (it is for silence).", head, lines)
}

func costTable(b *strings.Builder, list []measured) {
	var lines [][]string
	for _, m := range list {
		lines = append(lines, []string{m.file, fmt.Sprint(m.Budget), fmt.Sprintf("%.0f / %.0f", m.Assemble.P50, m.Assemble.P95),
			fmt.Sprintf("%.0f / %.0f", m.RecallTime.P50, m.RecallTime.P95), fmt.Sprint(m.Turns), fmt.Sprintf("%.0f", m.TurnsASecond),
			fmt.Sprintf("%.1f / %.1f", float64(m.StoreBytes)/1e6, float64(m.IndexBytes)/1e6)})
	}
	rows(b, "What it costs.", []string{"file", "tokens", "assemble p50 / p95, ms", "of that recall, ms", "turns", "stored and committed a second",
		"store / of that index, MB"}, lines)
}

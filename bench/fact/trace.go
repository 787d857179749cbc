package fact

import (
	"context"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/message"
)

// trace follows the calls that the context names, with the question as query, until a source turn is shown.
func (m *measure) trace(ctx context.Context, q evidence.Question, shown string) (bool, error) {
	if m.source(q, shown) {
		return true, nil
	}
	spent := 0
	for _, uri := range m.calls(q, shown) {
		args, err := json.Marshal(map[string]any{"uri": uri, "query": q.Question, "limit": traceLimit})
		if err != nil {
			return false, err
		}
		a, err := m.engine.Tool(ctx, skald.ToolRequest{Request: m.request(), Tool: "memory_expand", Args: args})
		if err != nil {
			return false, err
		}
		if spent += message.TextTokens(a.Text); spent > traceTokens {
			return false, nil
		}
		if m.source(q, a.Text) {
			return true, nil
		}
	}
	return false, nil
}

// source reports whether a text shows a turn that states the fact, verbatim.
func (m *measure) source(q evidence.Question, text string) bool {
	for _, id := range q.Evidence {
		if said := m.texts[id]; said != "" && m.judge.Shows(q, said, text) {
			return true
		}
	}
	return false
}

// calls are the two URIs that a reader would expand: of the note in which the answer is recognised, else of the one that shares the words
// with the question that tell most; and of the newest archive, which the query searches. A weak note comes second.
func (m *measure) calls(q evidence.Question, shown string) []string {
	var list []string
	c, sure := bestNote(shown, q.Question)
	for line := range strings.Lines(shown) {
		if n := citation.FindStringSubmatch(strings.TrimSpace(line)); n != nil && m.holds(q, line) {
			c, sure = n[1], true
			break
		}
	}
	if u := archivePattern.FindString(shown); u != "" {
		list = append(list, u)
	}
	if c != "" {
		list = append(list, string(m.session.Join("turns", c)))
	}
	if sure {
		slices.Reverse(list)
	}
	return list[:min(traceCalls, len(list))]
}

var (
	// citation is what a note's line ends with: the turns behind it, which the notes say how to expand.
	citation       = regexp.MustCompile(`\[(\d+(?:-\d+)?)\]$`)
	archivePattern = regexp.MustCompile(`viking://[^\s"]+/history/archive_\d+`)
)

// bestNote is the citation of the note that shares most with the question; sure says that it shares half of what the question tells.
func bestNote(shown, question string) (cited string, sure bool) {
	terms, in, n := analyze.Query(question), map[string]int{}, 0
	notes := map[string]map[string]bool{}
	var order []string
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); citation.MatchString(line) && notes[line] == nil {
			notes[line], n = map[string]bool{}, n+1
			for _, t := range analyze.Terms(line) {
				if !notes[line][t] {
					notes[line][t] = true
					in[t]++
				}
			}
			order = append(order, line)
		}
	}
	most, all := 0.0, 0.0
	for _, t := range terms {
		all += rarity(n, in[t])
	}
	for _, line := range order {
		score := 0.0
		for _, t := range terms {
			if notes[line][t] {
				score += rarity(n, in[t])
			}
		}
		if score > most {
			cited, most = citation.FindStringSubmatch(line)[1], score
		}
	}
	return cited, most*2 >= all
}

func rarity(n, in int) float64 { return math.Log(1 + float64(n)/float64(in+1)) }

package fact

import (
	"context"
	"encoding/json"
	"regexp"
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
	seen := map[string]bool{}
	text := shown
	for range traceCalls {
		uri := next(text, q.Question, m.session, seen)
		if uri == "" {
			return false, nil
		}
		seen[uri] = true
		args, err := json.Marshal(map[string]string{"uri": uri, "query": q.Question})
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
		text = a.Text + "\n" + shown
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

var uriPattern = regexp.MustCompile(`viking://[^\s"'<>)\]},;]+`)

// citation is what a note's line ends with: the turns behind it, which the notes say how to expand.
var citation = regexp.MustCompile(`\[(\d+(?:-\d+)?)\]$`)

// next is the URI that a reader would expand: the one on the line that shares most words with the question, the first of equal ones.
func next(text, question string, session skald.URI, seen map[string]bool) (best string) {
	terms := analyze.Query(question)
	most := -1
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		uris := uriPattern.FindAllString(line, -1)
		if c := citation.FindStringSubmatch(line); c != nil && len(uris) == 0 {
			uris = []string{string(session.Join("turns", c[1]))}
		}
		if len(uris) == 0 {
			continue
		}
		has := map[string]bool{}
		for _, t := range analyze.Terms(line) {
			has[t] = true
		}
		n := 0
		for _, t := range terms {
			if has[t] {
				n++
			}
		}
		for _, u := range uris {
			if u = strings.TrimRight(u, "."); !seen[u] && n > most {
				best, most = u, n
			}
		}
	}
	return best
}

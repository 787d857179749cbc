package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// page is the compatibility page; the tests write what stands between the marks.
const page = "../../docs/openviking-compat.md"

// row is an endpoint's state, gathered from its requests.
type row struct {
	endpoint         endpoint
	requests, absent int
	refused          int      // what OpenViking does, and Skald refuses with another status than 501
	differs          []string // explained differences, by their reasons
}

func (r row) state() string {
	switch {
	case r.absent == r.requests:
		return "501"
	case r.absent > 0:
		return "served in part"
	case r.refused == r.requests:
		return "not there"
	case len(r.differs) > 0:
		return "served, differs"
	}
	return "served"
}

func (r row) String() string {
	return fmt.Sprintf("| `%s` | %s | %s | %d |\n", r.endpoint, r.state(), strings.Join(r.differs, "; "), r.requests)
}

// TestHTTPOnSkald: Skald answers each request as the real server does, or the difference is explained; the page tells each endpoint's
// state.
func TestHTTPOnSkald(t *testing.T) {
	if testing.Short() {
		t.Skip("not for -short: it starts the daemon; `make conformance` runs it")
	}
	c := conversation{target: skaldTarget(t), kept: map[string]string{}}
	expected, rules, list := readExpectations(t, "testdata/http.json"), readRules(t, "http"), readEndpoints(t)
	rows := map[string]*row{}
	for _, e := range list {
		rows[e.String()] = &row{endpoint: e}
	}
	for _, a := range readAsks(t) {
		r := c.run(t, a)
		e, isEndpoint := of(list, a.method, a.path)
		at := rows[e.String()]
		if !isEndpoint {
			at = &row{}
		}
		at.requests++
		if r.status == 501 {
			at.absent++
			continue
		}
		if a.status < 400 && r.status >= 400 {
			at.refused++
		}
		for _, d := range a.judge(r, expected.steps[a.step()]) {
			if left := explain(rules, a.step(), []string{d}); len(left) > 0 {
				t.Errorf("%s: %s\n%s", a.step(), d, clip(r.raw))
				continue
			}
			if why := reason(rules, a.step(), d); !slices.Contains(at.differs, why) {
				at.differs = append(at.differs, why)
			}
		}
	}
	stale(t, rules)
	checkPage(t, list, rows)
}

func reason(rules []*rule, step, difference string) string {
	i := slices.IndexFunc(rules, func(r *rule) bool { return r.explains(step, difference) })
	return rules[i].why
}

// checkPage compares the page's table with the run, or writes it.
func checkPage(t *testing.T, list []endpoint, rows map[string]*row) {
	t.Helper()
	var b strings.Builder
	counts := map[string]int{}
	for _, e := range list {
		counts[rows[e.String()].state()]++
		b.WriteString(rows[e.String()].String())
	}
	table := fmt.Sprintf("%d endpoints: %d served as OpenViking serves them, %d with a difference, %d in part, %d answer 501 UNIMPLEMENTED, %d are not there.\n\n"+
		"| endpoint | state | difference | requests |\n|---|---|---|---|\n%s", len(list), counts["served"], counts["served, differs"],
		counts["served in part"], counts["501"], counts["not there"], b.String())
	checkSection(t, "endpoints", table)
}

// checkSection compares what stands between two marks of the page with what should, or writes it.
func checkSection(t *testing.T, mark, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	next, ok := between(string(text), "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->", want)
	if !ok {
		t.Fatalf("%s has no marks for %s", page, mark)
	}
	if *update {
		if err := os.WriteFile(page, []byte(next), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if next != string(text) {
		t.Errorf("%s does not tell the state any more: go test ./test/conformance -run '%s' -update", page, t.Name())
	}
}

// TestClientDifferences: the page lists what the SDK and ov meet, from differences.txt.
func TestClientDifferences(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| client | call | difference | why |\n|---|---|---|---|\n")
	for _, suite := range []string{"sdk", "cli"} {
		for _, r := range readRules(t, suite) {
			fmt.Fprintf(&b, "| %s | `%s` | `%s` | %s |\n", suite, r.step, strings.ReplaceAll(r.difference, "|", "\\|"), r.why)
		}
	}
	checkSection(t, "clients", b.String())
}

func between(text, begin, end, middle string) (string, bool) {
	head, rest, ok := strings.Cut(text, begin)
	_, tail, closed := strings.Cut(rest, end)
	return head + begin + middle + end + tail, ok && closed
}

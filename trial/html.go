package trial

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed report.html
var pageText string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"tokens": grouped, "percent": percent, "day": day, "minute": minute, "anchor": anchor, "inc": func(i int) int { return i + 1 },
	"tokensChart": tokensChart, "cacheChart": cacheChart, "viewChart": viewChart, "spark": spark, "first": firstOf, "more": moreThan,
}).Parse(pageText))

// WriteHTML writes the report as one page that needs nothing else. Whatever the conversations hold is shown as text.
func (r Report) WriteHTML(w io.Writer) error {
	return page.Execute(w, struct {
		Report
		Turns []Quote
		Limit int
	}{r, r.quoted(), mostShown})
}

// mostShown is how many repetitions of a kind the page shows; the JSON has all.
const mostShown = 200

// quoted are the turns that the shown repetitions name, each once, in order.
func (r Report) quoted() (list []Quote) {
	for _, repeats := range [][]Repetition{r.Facts, r.Rereads} {
		for _, rep := range firstOf(repeats) {
			list = append(list, rep.Now, rep.Earlier)
		}
	}
	slices.SortStableFunc(list, func(a, b Quote) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Text, b.Text))
	})
	return merged(list)
}

// merged joins what was quoted of the same turn.
func merged(list []Quote) (out []Quote) {
	for _, q := range list {
		if n := len(out) - 1; n >= 0 && anchor(out[n]) == anchor(q) {
			if !strings.Contains(out[n].Text, q.Text) {
				out[n].Text += "\n" + q.Text
			}
			continue
		}
		out = append(out, q)
	}
	return out
}

func anchor(q Quote) string { return fmt.Sprintf("s%d-t%d", q.Session, q.Turn) }

func firstOf(list []Repetition) []Repetition {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Repetition) int { // those that count come first
		switch {
		case a.Counted == b.Counted:
			return 0
		case a.Counted:
			return -1
		}
		return 1
	})
	return sorted[:min(len(sorted), mostShown)]
}

func moreThan(list []Repetition) int { return max(0, len(list)-mostShown) }

// grouped writes a number with thin gaps between thousands.
func grouped(v any) string {
	n := 0
	switch v := v.(type) {
	case int:
		n = v
	case float64:
		n = int(v + 0.5)
	}
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func day(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.UTC().Format("2006-01-02")
}

func minute(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

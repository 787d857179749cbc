package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("compare").Funcs(template.FuncMap{"percent": percent, "lines": lines, "bar": bar, "colour": colour}).Parse(pageText))

// WriteHTML writes the report as one page that needs nothing else.
func (r Report) WriteHTML(w io.Writer) error { return page.Execute(w, r) }

func percent(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

// colours tell the strategies apart, in the order of the report.
var colours = []string{"#1667a8", "#b3541e", "#2e7d32", "#7b1fa2", "#00838f", "#c2185b", "#5d4037", "#455a64"}

func colour(i int) template.CSS { return template.CSS(colours[i%len(colours)]) }

// Sizes of the chart, in SVG units, and how many points a line has at most.
const (
	width  = 760
	height = 200
	points = 300
)

// lines draws the tokens of every request, one line a strategy, over one scale.
func lines(rows []Row) template.HTML {
	top := 1
	for _, r := range rows {
		for _, n := range r.RequestTokens {
			top = max(top, n)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="tokens of each request"><text class="scale" x="4" y="12">%d tokens</text>`, width, height, top)
	for i, r := range rows {
		fmt.Fprintf(&b, `<polyline stroke="%s" points="`, colour(i))
		step := max(1, len(r.RequestTokens)/points)
		for at := 0; at < len(r.RequestTokens); at += step {
			x := float64(at) * width / float64(max(1, len(r.RequestTokens)-1))
			fmt.Fprintf(&b, "%.1f,%.1f ", x, height-float64(r.RequestTokens[at])*(height-16)/float64(top))
		}
		b.WriteString(`"/>`)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // numbers and colours of our own only
}

// bar draws a share of what is most.
func bar(i int, part, most float64) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none"><rect width="%.1f" height="8" fill="%s"/></svg>`,
		100*part/max(most, 1e-9), colour(i)))
}

// MostTokens is the largest sum of a row, for the scale of the bars.
func (r Report) MostTokens() float64 {
	most := 0
	for _, row := range r.Rows {
		most = max(most, row.Tokens)
	}
	return float64(most)
}

// Float is Tokens for the bars.
func (r Row) Float() float64 { return float64(r.Tokens) }

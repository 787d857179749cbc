package trial

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Sizes of the charts, in SVG units, and how many points one has at most.
const (
	chartWidth  = 760
	chartHeight = 160
	chartPoints = 240
	sparkWidth  = 120
	sparkHeight = 24
)

// series is one line of a chart.
type series struct {
	class  string // of the stylesheet
	values []float64
}

// timeline is all exchanges in the order of their time.
func timeline(sessions []Session) []Point {
	var all []Point
	for _, s := range sessions {
		all = append(all, s.Points...)
	}
	slices.SortStableFunc(all, func(a, b Point) int { return a.Time.Compare(b.Time) })
	return all
}

func tokensChart(sessions []Session) template.HTML {
	return both(sessions, "tokens of the first request of each exchange", func(r Reading) float64 { return float64(r.Tokens) })
}

func cacheChart(sessions []Session) template.HTML {
	return both(sessions, "cacheable share in percent", func(r Reading) float64 {
		if r.Tokens == 0 {
			return 0
		}
		return 100 * float64(r.Cached) / float64(r.Tokens)
	})
}

func viewChart(sessions []Session) template.HTML {
	return both(sessions, "turns of the session that are no longer raw in the request", func(r Reading) float64 { return float64(r.OutOfView) })
}

func both(sessions []Session, label string, of func(Reading) float64) template.HTML {
	points := timeline(sessions)
	legacy, ours := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		legacy[i], ours[i] = of(p.Legacy), of(p.Skald)
	}
	return chart(label, series{"legacy", thin(legacy)}, series{"skald", thin(ours)})
}

// spark draws a session's tokens small.
func spark(s Session) template.HTML {
	legacy, ours := make([]float64, len(s.Points)), make([]float64, len(s.Points))
	for i, p := range s.Points {
		legacy[i], ours[i] = float64(p.Legacy.Tokens), float64(p.Skald.Tokens)
	}
	top := highest(legacy, ours)
	return svg(sparkWidth, sparkHeight, "tokens of each exchange",
		line("legacy", thin(legacy), top, sparkWidth, sparkHeight)+line("skald", thin(ours), top, sparkWidth, sparkHeight))
}

// chart draws series over one scale with its top written on it.
func chart(label string, list ...series) template.HTML {
	var top float64
	for _, s := range list {
		top = max(top, highest(s.values))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<line class="axis" x1="0" y1="%d" x2="%d" y2="%d"/>`, chartHeight-1, chartWidth, chartHeight-1)
	fmt.Fprintf(&b, `<text class="scale" x="2" y="11">%s</text>`, grouped(top))
	for _, s := range list {
		b.WriteString(line(s.class, s.values, top, chartWidth, chartHeight))
	}
	return svg(chartWidth, chartHeight, label, b.String())
}

// svg wraps shapes that were made of numbers and constants alone; nothing of a conversation gets in here.
func svg(width, height int, label, body string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s" preserveAspectRatio="none">%s</svg>`,
		width, height, width, height, label, body))
}

func line(class string, values []float64, top float64, width, height int) string {
	if len(values) == 0 {
		return ""
	}
	var b strings.Builder
	for i, v := range values {
		x := float64(width) / 2
		if len(values) > 1 {
			x = float64(i) * float64(width) / float64(len(values)-1)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", x, float64(height-2)-v/cmp.Or(top, 1)*float64(height-16))
	}
	return fmt.Sprintf(`<polyline class="%s" points="%s"/>`, class, strings.TrimSpace(b.String()))
}

// thin takes means, so that no chart has more than chartPoints points.
func thin(values []float64) []float64 {
	if len(values) <= chartPoints {
		return values
	}
	out := make([]float64, chartPoints)
	for i := range out {
		from, to := i*len(values)/chartPoints, (i+1)*len(values)/chartPoints
		for _, v := range values[from:to] {
			out[i] += v / float64(to-from)
		}
	}
	return out
}

func highest(lists ...[]float64) (top float64) {
	for _, l := range lists {
		for _, v := range l {
			top = max(top, v)
		}
	}
	return top
}

package recall

import (
	"math"
	"strings"
	"time"

	"github.com/skald-engine/skald/index/when"
)

// How much the time that a question names weighs. What was said in that time, or tells of it, gets timeShare more; what lies outside gets
// less of it the further away it lies, against timeNear and a part of the time's own length.
const (
	timeShare  = 0.8
	timeNear   = 2 * when.Day
	timeLength = 0.15 // of the length of what was asked for
	whenShare  = 0.15 // more for a text that names a time, where the question asks for one
	timeWords  = 0.4  // weight of the words that name the time: a text rarely says its own date
	askedTimes = 4    // times of a question that are looked at
	namedTimes = 12   // and of a text
)

// times finds the times that the question names, or that it asks for one.
func (c *course) times() {
	c.asked = when.Spans(c.r.Query, c.r.Now, true, askedTimes)
	c.asksWhen = asksWhen(c.r.Query)
}

// untimed is the question without the words that name its times.
func (c *course) untimed() string {
	var b strings.Builder
	at := 0
	for _, s := range c.asked {
		b.WriteString(c.r.Query[at:s.Start] + " ")
		at = s.End
	}
	b.WriteString(c.r.Query[at:])
	return b.String()
}

// whenWords ask for a time.
var whenWords = []string{"when did", "when was", "when were", "when is", "when are", "when does", "when do", "when has", "when will", "what date", "what day", "what time", "which day", "which month", "which year", "what month", "what year",
	"how long ago", "什么时候", "啥时候", "何时", "哪天", "哪一天", "哪年", "哪月", "几号", "几月", "几点", "哪个月", "什么时间", "星期几", "周几"}

func asksWhen(query string) bool {
	lower := strings.ToLower(query)
	for _, w := range whenWords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// weighTime raises what was said in the time that is asked for, or tells of it.
func (c *course) weighTime() {
	if len(c.asked) == 0 && !c.asksWhen {
		return
	}
	for _, k := range c.kept() {
		if k.library() || k.time.IsZero() {
			continue
		}
		named := when.Spans(k.text, k.time, false, namedTimes)
		switch {
		case len(c.asked) > 0:
			k.scale("time", 1+timeShare*c.inTime(k.time, named))
		case len(named) > 0:
			k.scale("time", 1+whenShare)
		}
	}
	c.order()
}

// inTime is 1 for what was said in a time that is asked for or tells of it, less the further away it lies.
func (c *course) inTime(said time.Time, named []when.Span) float64 {
	best := 0.0
	for _, s := range c.asked {
		reach := timeNear + time.Duration(timeLength*float64(s.To.Sub(s.From)))
		gap := s.Distance(said)
		for _, n := range named {
			if n.To.Sub(n.From) <= 2*s.To.Sub(s.From) {
				gap = min(gap, s.Gap(n))
			}
		}
		best = max(best, math.Exp(-float64(gap)/float64(reach)))
	}
	return best
}

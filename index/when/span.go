package when

import "time"

// Span is a time that a text names: from From up to To, without To itself. Start and End are the bytes of the text that name it.
type Span struct {
	From, To   time.Time
	Start, End int
}

// Day is the length of a day; a Span of it names a day.
const Day = 24 * time.Hour

// Distance is how far a time lies outside the span, 0 within.
func (s Span) Distance(t time.Time) time.Duration {
	switch {
	case t.Before(s.From):
		return s.From.Sub(t)
	case !t.Before(s.To):
		return t.Sub(s.To)
	}
	return 0
}

// Gap is how far two spans lie apart, 0 where they overlap.
func (s Span) Gap(o Span) time.Duration {
	switch {
	case !o.To.After(s.From):
		return s.From.Sub(o.To)
	case !o.From.Before(s.To):
		return o.From.Sub(s.To)
	}
	return 0
}

// Spans lists the times that a text names, as they were meant at a time. A month or day without a year is the one nearest to it; where
// past is set, as in a question about what was, the last one that has begun. At most max are read.
func Spans(text string, at time.Time, past bool, max int) []Span {
	p := parser{list: tokens(text), today: midnight(at), past: past}
	var out []Span
	for p.i < len(p.list) && len(out) < max {
		from := p.i
		s, ok := p.next()
		if !ok {
			p.i = from + 1
			continue
		}
		s.Start, s.End = p.list[from].start, p.list[p.i-1].end
		out = append(out, s)
	}
	return out
}

// parser stands at a word and tries to read a time there.
type parser struct {
	list  []token
	i     int
	today time.Time
	past  bool
}

func midnight(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func (p *parser) next() (Span, bool) {
	for _, read := range []func() (Span, bool){p.numeric, p.english, p.han} {
		from := p.i
		if s, ok := read(); ok {
			return s, true
		}
		p.i = from
	}
	return Span{}, false
}

// at is the word so many after the current one; "" past the end.
func (p *parser) at(n int) string {
	if p.i+n < 0 || p.i+n >= len(p.list) {
		return ""
	}
	return p.list[p.i+n].text
}

func (p *parser) num(n int) int {
	if p.i+n < 0 || p.i+n >= len(p.list) {
		return -1
	}
	return p.list[p.i+n].num
}

// take goes on by n words and reports the span.
func (p *parser) take(n int, s Span) (Span, bool) {
	p.i += n
	return s, true
}

func days(from time.Time, n int) Span { return Span{From: from, To: from.AddDate(0, 0, n)} }

func (p *parser) day(offset int) Span { return days(p.today.AddDate(0, 0, offset), 1) }

// week is the one so many after this one, from Monday.
func (p *parser) week(offset int) Span {
	return days(p.today.AddDate(0, 0, 7*offset-(int(p.today.Weekday())+6)%7), 7)
}

func (p *parser) month(offset int) Span {
	from := time.Date(p.today.Year(), p.today.Month()+time.Month(offset), 1, 0, 0, 0, 0, time.UTC)
	return Span{From: from, To: from.AddDate(0, 1, 0)}
}

func (p *parser) year(offset int) Span { return yearSpan(p.today.Year() + offset) }

func yearSpan(year int) Span {
	from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	return Span{From: from, To: from.AddDate(1, 0, 0)}
}

// monthOf is a month by name; without a year the nearest, or the last one that has begun.
func (p *parser) monthOf(year, month int) Span {
	return p.named(year, func(y int) Span {
		from := time.Date(y, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
		return Span{From: from, To: from.AddDate(0, 1, 0)}
	})
}

func (p *parser) dayOf(year, month, day int) (Span, bool) {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return Span{}, false
	}
	return p.named(year, func(y int) Span { return days(time.Date(y, time.Month(month), day, 0, 0, 0, 0, time.UTC), 1) }), true
}

// named picks the year of a span that was named without one.
func (p *parser) named(year int, make func(int) Span) Span {
	if year > 0 {
		return make(year)
	}
	best := make(p.today.Year())
	if p.past {
		if best.From.After(p.today) {
			return make(p.today.Year() - 1)
		}
		return best
	}
	for _, y := range []int{p.today.Year() - 1, p.today.Year() + 1} {
		if s := make(y); s.Distance(p.today) < best.Distance(p.today) {
			best = s
		}
	}
	return best
}

// weekday is a day of the week, 0 Monday to 6, in the week so many after this one.
func (p *parser) weekday(day, week int) Span { return days(p.week(week).From.AddDate(0, 0, day), 1) }

// lastWeekday is the day of that name before today.
func (p *parser) lastWeekday(day int) Span {
	s := p.weekday(day, 0)
	if !s.From.Before(p.today) {
		s = p.weekday(day, -1)
	}
	return s
}

// ago is so many units back, as exact as the unit is.
func (p *parser) ago(n int, unit string) (Span, bool) {
	switch unit {
	case "day", "days":
		return days(p.today.AddDate(0, 0, -n), 1), true
	case "week", "weeks", "weekend", "weekends":
		return days(p.today.AddDate(0, 0, -7*n-3), 7), true
	case "month", "months":
		return days(p.today.AddDate(0, -n, -15), 30), true
	case "year", "years":
		return days(p.today.AddDate(-n, -6, 0), 365), true
	}
	return Span{}, false
}

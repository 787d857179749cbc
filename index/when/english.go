package when

import "time"

var months = map[string]int{"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9,
	"oct": 10, "nov": 11, "dec": 12}

var weekdays = map[string]int{"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6}

// seasons by their first month, in the north.
var seasons = map[string]int{"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}

// before are the words after which "may" and "march" are months, and a number of four digits is a year.
var before = map[string]bool{"in": true, "since": true, "during": true, "until": true, "till": true, "by": true, "of": true, "last": true,
	"this": true, "next": true, "early": true, "mid": true, "late": true, "from": true, "before": true, "after": true}

var turning = map[string]int{"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1}

// numeric reads 2023-05-07, 2023/5/7 and, after "in" and the like, 2023.
func (p *parser) numeric() (Span, bool) {
	year := p.num(0)
	if !isYear(year) {
		return Span{}, false
	}
	if m, d := p.num(1), p.num(2); m > 0 && d > 0 && p.i+2 < len(p.list) && p.list[p.i+2].start-p.list[p.i].start <= 8 {
		if s, ok := p.dayOf(year, m, d); ok {
			return p.take(3, s)
		}
	}
	if p.i > 0 && before[p.at(-1)] {
		return p.take(1, yearSpan(year))
	}
	return Span{}, false
}

func isYear(n int) bool { return n >= 1900 && n < 2100 }

func (p *parser) english() (Span, bool) {
	for _, read := range []func() (Span, bool){p.distance, p.anchored, p.monthAndDay, p.relative} {
		from := p.i
		if s, ok := read(); ok {
			return s, true
		}
		p.i = from
	}
	return Span{}, false
}

// distance reads "two weeks ago", "a couple of days ago".
func (p *parser) distance() (Span, bool) {
	n, at := p.num(0), 1
	if n < 0 {
		return Span{}, false
	}
	if more := p.num(1); n == 1 && more > 1 { // a few, a couple
		n, at = more, 2
	}
	if p.at(at) == "of" {
		at++
	}
	if p.at(at+1) != "ago" {
		return Span{}, false
	}
	s, ok := p.ago(n, p.at(at))
	p.i += at + 2
	return s, ok
}

// anchored reads "the week before 9 June 2023", "last weekend before April 10": the time on that side of the day.
func (p *parser) anchored() (Span, bool) {
	unit, side := p.at(0), p.at(1)
	length := map[string]int{"day": 1, "weekend": 7, "week": 7, "month": 30}[unit]
	if _, ok := weekdays[unit]; ok {
		length = 7
	}
	if length == 0 || side != "before" && side != "after" {
		return Span{}, false
	}
	p.i += 2
	s, ok := p.monthAndDay()
	if !ok {
		return Span{}, false
	}
	if side == "before" {
		return days(s.From.AddDate(0, 0, -length), length), true
	}
	return days(s.To, length), true
}

// monthAndDay reads "7 May 2023", "May 7th", "May 2023", "in May".
func (p *parser) monthAndDay() (Span, bool) {
	if d := p.num(0); d > 0 && d <= 31 && p.list[p.i].text[0] <= '9' {
		at := 1
		if p.at(at) == "of" {
			at++
		}
		if m := months[p.at(at)]; m > 0 {
			return p.withYear(at+1, m, d)
		}
		return Span{}, false
	}
	m := months[p.at(0)]
	if m == 0 {
		return Span{}, false
	}
	if d := p.num(1); d > 0 && d <= 31 && isDigit(rune(p.at(1)[0])) {
		return p.withYear(2, m, d)
	}
	if y := p.num(1); isYear(y) {
		return p.take(2, p.monthOf(y, m))
	}
	word := p.at(0)
	if turn, ok := turning[p.at(-1)]; ok && turn < 0 {
		s := p.monthOf(0, m)
		if !s.From.Before(p.month(0).From) {
			s = p.monthOf(p.today.Year()-1, m)
		}
		return p.take(1, s)
	}
	if (len(word) > 4 && word != "march") || before[p.at(-1)] {
		return p.take(1, p.monthOf(0, m))
	}
	return Span{}, false
}

func (p *parser) withYear(at, month, day int) (Span, bool) {
	year := 0
	if y := p.num(at); isYear(y) {
		year, at = y, at+1
	}
	s, ok := p.dayOf(year, month, day)
	p.i += at
	return s, ok
}

// relative reads words that hang on today: "yesterday", "last week", "last Friday", "next month", "last summer".
func (p *parser) relative() (Span, bool) {
	switch p.at(0) {
	case "yesterday":
		return p.take(1, p.day(-1))
	case "today", "tonight":
		return p.take(1, p.day(0))
	case "tomorrow":
		return p.take(1, p.day(1))
	case "day":
		if p.at(1) == "before" && p.at(2) == "yesterday" {
			return p.take(3, p.day(-2))
		}
		if p.at(1) == "after" && p.at(2) == "tomorrow" {
			return p.take(3, p.day(2))
		}
	case "on":
		if day, ok := weekdays[p.at(1)]; ok {
			return p.take(2, p.lastWeekday(day))
		}
	}
	turn, ok := turning[p.at(0)]
	if !ok {
		return Span{}, false
	}
	return p.turned(turn)
}

func (p *parser) turned(turn int) (Span, bool) {
	unit := p.at(1)
	switch unit {
	case "night", "evening", "morning":
		return p.take(2, p.day(turn))
	case "week":
		return p.take(2, p.week(turn))
	case "weekend":
		return p.take(2, days(p.week(turn).From.AddDate(0, 0, 5), 2))
	case "month":
		return p.take(2, p.month(turn))
	case "year":
		return p.take(2, p.year(turn))
	}
	if day, ok := weekdays[unit]; ok {
		switch turn {
		case -1:
			return p.take(2, p.lastWeekday(day))
		default:
			return p.take(2, p.weekday(day, turn))
		}
	}
	if first, ok := seasons[unit]; ok {
		return p.take(2, p.season(first, turn))
	}
	return Span{}, false
}

// season is three months; last is the last one that is over, next the first that is to come.
func (p *parser) season(first, turn int) Span {
	at := func(year int) Span {
		from := time.Date(year, time.Month(first), 1, 0, 0, 0, 0, time.UTC)
		return Span{From: from, To: from.AddDate(0, 3, 0)}
	}
	year := p.today.Year()
	switch {
	case turn < 0 && at(year).To.After(p.today):
		year--
	case turn > 0 && !at(year).From.After(p.today):
		year++
	}
	return at(year)
}

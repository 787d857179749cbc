package when

var hanWeekdays = map[string]int{"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}

// hanDays are days by two characters.
var hanDays = map[string]int{"今天": 0, "今日": 0, "今晚": 0, "今早": 0, "昨天": -1, "昨日": -1, "昨晚": -1, "前天": -2, "明天": 1, "明晚": 1, "后天": 2}

var hanYears = map[string]int{"前年": -2, "去年": -1, "今年": 0, "明年": 1}

// han reads times that are written in Han characters.
func (p *parser) han() (Span, bool) {
	if p.list[p.i].text[0] < 0x80 && p.num(0) < 0 {
		return Span{}, false
	}
	pair := p.at(0) + p.at(1)
	if n, ok := hanDays[pair]; ok {
		return p.take(2, p.day(n))
	}
	if n, ok := hanYears[pair]; ok {
		return p.hanYear(p.today.Year()+n, 2)
	}
	for _, read := range []func() (Span, bool){p.hanWeek, p.hanMonth, p.hanAgo, p.hanDate} {
		from := p.i
		if s, ok := read(); ok {
			return s, true
		}
		p.i = from
	}
	return Span{}, false
}

// hanTurn reads 上, 上上, 这, 本 or 下, with 个; n words were read.
func (p *parser) hanTurn() (turn, n int, ok bool) {
	switch p.at(0) {
	case "上":
		turn, n = -1, 1
		if p.at(1) == "上" {
			turn, n = -2, 2
		}
	case "这", "本":
		turn, n = 0, 1
	case "下":
		turn, n = 1, 1
	default:
		return 0, 0, false
	}
	if p.at(n) == "个" {
		n++
	}
	return turn, n, true
}

// hanUnit reads 周, 星期 or 礼拜; 0 when there is none.
func (p *parser) hanUnit(n int) int {
	switch {
	case p.at(n) == "周":
		return 1
	case p.at(n)+p.at(n+1) == "星期", p.at(n)+p.at(n+1) == "礼拜":
		return 2
	}
	return 0
}

// hanWeek reads 上周, 上个星期三, 这周末, 周五.
func (p *parser) hanWeek() (Span, bool) {
	turn, n, turned := p.hanTurn()
	unit := p.hanUnit(n)
	if unit == 0 {
		return Span{}, false
	}
	n += unit
	day, ok := hanWeekdays[p.at(n)]
	switch {
	case ok && turned:
		return p.take(n+1, p.weekday(day, turn))
	case ok:
		return p.take(n+1, p.lastWeekday(day))
	case turned && p.at(n) == "末":
		return p.take(n+1, days(p.week(turn).From.AddDate(0, 0, 5), 2))
	case turned:
		return p.take(n, p.week(turn))
	}
	return Span{}, false
}

// hanMonth reads 上个月, 这个月五号.
func (p *parser) hanMonth() (Span, bool) {
	turn, n, ok := p.hanTurn()
	if !ok || p.at(n) != "月" {
		return Span{}, false
	}
	from := p.month(turn).From
	return p.hanMonthDay(from.Year(), n+1, int(from.Month()))
}

// hanNumber reads a number in digits or in Han numerals up to 99.
func (p *parser) hanNumber(at int) (n, words int) {
	if d := p.num(at); d >= 0 && isDigit(rune(p.at(at)[0])) {
		return d, 1
	}
	d, ok := hanDigits[p.at(at)]
	if ok {
		n, words = d, 1
	}
	if p.at(at+words) == "十" {
		n, words = max(1, n)*10, words+1
		if d, ok := hanDigits[p.at(at+words)]; ok {
			n, words = n+d, words+1
		}
	}
	if words == 0 {
		return -1, 0
	}
	return n, words
}

// hanAgo reads 三天前, 两个月前.
func (p *parser) hanAgo() (Span, bool) {
	n, at := p.hanNumber(0)
	if at == 0 {
		return Span{}, false
	}
	if p.at(at) == "个" {
		at++
	}
	unit := map[string]string{"天": "day", "周": "week", "月": "month", "年": "year"}[p.at(at)]
	if unit == "" {
		if p.hanUnit(at) != 2 {
			return Span{}, false
		}
		unit, at = "week", at+1
	}
	at++
	if side := p.at(at); (side == "之" || side == "以") && p.at(at+1) == "前" {
		at++
	}
	if p.at(at) != "前" {
		return Span{}, false
	}
	s, ok := p.ago(n, unit)
	p.i += at + 1
	return s, ok
}

// hanDate reads 2024年5月3日, 五月三号, 5月, 2024年, 18号.
func (p *parser) hanDate() (Span, bool) {
	n, words := p.hanNumber(0)
	if words == 0 {
		return Span{}, false
	}
	switch p.at(words) {
	case "年":
		if isYear(n) {
			return p.hanYear(n, words+1)
		}
	case "月":
		return p.hanMonthDay(0, words+1, n)
	case "号", "日":
		if n >= 1 && n <= 31 {
			return p.take(words+1, p.dayOfMonth(n))
		}
	}
	return Span{}, false
}

// hanYear goes on after a year: a month may follow, or its beginning or end.
func (p *parser) hanYear(year, at int) (Span, bool) {
	if m, words := p.hanNumber(at); words > 0 && p.at(at+words) == "月" {
		return p.hanMonthDay(year, at+words+1, m)
	}
	s := yearSpan(year)
	if p.at(at) == "年" {
		at++
	}
	switch p.at(at) {
	case "初":
		return p.take(at+1, Span{From: s.From, To: s.From.AddDate(0, 2, 0)})
	case "底", "末":
		return p.take(at+1, Span{From: s.To.AddDate(0, -2, 0), To: s.To})
	}
	return p.take(at, s)
}

// hanMonthDay goes on after a month: its day may follow.
func (p *parser) hanMonthDay(year, at, month int) (Span, bool) {
	if month < 1 || month > 12 {
		return Span{}, false
	}
	if d, words := p.hanNumber(at); words > 0 && (p.at(at+words) == "日" || p.at(at+words) == "号") {
		s, ok := p.dayOf(year, month, d)
		p.i += at + words + 1
		return s, ok
	}
	if p.at(at) == "份" {
		at++
	}
	return p.take(at, p.monthOf(year, month))
}

// dayOfMonth is a day without its month: the nearest, or the last one.
func (p *parser) dayOfMonth(n int) Span {
	best := days(p.month(0).From.AddDate(0, 0, n-1), 1)
	for _, offset := range []int{-1, 1} {
		s := days(p.month(offset).From.AddDate(0, 0, n-1), 1)
		if p.past && best.From.After(p.today) && offset < 0 || !p.past && s.Distance(p.today) < best.Distance(p.today) {
			best = s
		}
	}
	return best
}

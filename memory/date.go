package memory

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// resolve finds the first date that a sentence names, as the day it meant when it was said (MEM-08). past says that a year alone
// was named which is over, so that the statement is about then and not about now.
func resolve(s string, at time.Time) (day time.Time, past, ok bool) {
	at = at.UTC()
	today := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	lower := strings.ToLower(s)
	for _, find := range []func(string, time.Time) (time.Time, bool){isoDate, monthDate, chineseDate, relative, ago, weekday} {
		if d, found := find(lower, today); found {
			return d, false, true
		}
	}
	if m := yearForm.FindStringSubmatch(lower); m != nil {
		y, _ := strconv.Atoi(m[1] + m[2])
		return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), y < today.Year(), true
	}
	return day, false, false
}

var (
	isoForm   = regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b`)
	dayMonth  = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:,? (\d{4}))?\b`)
	monthDay  = regexp.MustCompile(`\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4}))?`)
	hanForm   = regexp.MustCompile(`(?:(\d{4}) ?年 ?)?(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]`)
	agoForm   = regexp.MustCompile(`\b(\d+|a|an|one|two|three|four|five|six) (day|week|month|year)s? ago\b`)
	hanAgo    = regexp.MustCompile(`(\d+|一|两|三|四|五|六|七) ?个?(天|周|星期|月|年)(?:之|以)?前`)
	dayNames  = regexp.MustCompile(`\b(?:(last|next|this|on|by|until|before) )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`)
	hanDay    = regexp.MustCompile(`(上|下|这|本)?个?(?:周|星期|礼拜)([一二三四五六日天])`)
	yearForm  = regexp.MustCompile(`\b(?:in|since|until|from) ((?:19|20)\d\d)\b|((?:19|20)\d\d) ?年`)
	months    = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}
	dayNumber = map[string]int{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
		"日": 0, "天": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6}
	counts = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "一": 1, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7}
)

func date(year, month, day string, today time.Time) (time.Time, bool) {
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	y, _ := strconv.Atoi(year)
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return today, false
	}
	if y == 0 {
		y = nearYear(time.Month(m), d, today)
	}
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC), true
}

// nearYear is the year that puts a day without one nearest to today.
func nearYear(m time.Month, d int, today time.Time) int {
	t := time.Date(today.Year(), m, d, 0, 0, 0, 0, time.UTC)
	switch diff := t.Sub(today); {
	case diff > 200*24*time.Hour:
		return today.Year() - 1
	case diff < -200*24*time.Hour:
		return today.Year() + 1
	}
	return today.Year()
}

func isoDate(s string, today time.Time) (time.Time, bool) {
	if m := isoForm.FindStringSubmatch(s); m != nil {
		return date(m[1], m[2], m[3], today)
	}
	return today, false
}

func monthDate(s string, today time.Time) (time.Time, bool) {
	if m := dayMonth.FindStringSubmatch(s); m != nil {
		return date(m[3], strconv.Itoa(int(months[m[2]])), m[1], today)
	}
	if m := monthDay.FindStringSubmatch(s); m != nil {
		return date(m[3], strconv.Itoa(int(months[m[1]])), m[2], today)
	}
	return today, false
}

func chineseDate(s string, today time.Time) (time.Time, bool) {
	if m := hanForm.FindStringSubmatch(s); m != nil {
		return date(m[1], m[2], m[3], today)
	}
	return today, false
}

// relatives are days as a distance from today; weeks, months and years are the same day then.
var relatives = []struct {
	word                string
	days, months, years int
}{{"day before yesterday", -2, 0, 0}, {"day after tomorrow", 2, 0, 0}, {"yesterday", -1, 0, 0}, {"last night", -1, 0, 0}, {"tomorrow", 1, 0, 0},
	{"today", 0, 0, 0}, {"tonight", 0, 0, 0}, {"this morning", 0, 0, 0}, {"last week", -7, 0, 0}, {"next week", 7, 0, 0}, {"last month", 0, -1, 0}, {"next month", 0, 1, 0},
	{"last year", 0, 0, -1}, {"next year", 0, 0, 1}, {"前天", -2, 0, 0}, {"昨天", -1, 0, 0}, {"昨晚", -1, 0, 0}, {"今天", 0, 0, 0}, {"今晚", 0, 0, 0}, {"今早", 0, 0, 0},
	{"明天", 1, 0, 0}, {"明晚", 1, 0, 0}, {"后天", 2, 0, 0}, {"上个月", 0, -1, 0}, {"下个月", 0, 1, 0}, {"去年", 0, 0, -1}, {"明年", 0, 0, 1}, {"前年", 0, 0, -2}}

func relative(s string, today time.Time) (time.Time, bool) {
	for _, r := range relatives {
		if strings.Contains(s, r.word) {
			return today.AddDate(r.years, r.months, r.days), true
		}
	}
	if !hanDay.MatchString(s) {
		if strings.Contains(s, "上周") {
			return today.AddDate(0, 0, -7), true
		}
		if strings.Contains(s, "下周") {
			return today.AddDate(0, 0, 7), true
		}
	}
	return today, false
}

func ago(s string, today time.Time) (time.Time, bool) {
	m := agoForm.FindStringSubmatch(s)
	if m == nil {
		m = hanAgo.FindStringSubmatch(s)
	}
	if m == nil {
		return today, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = counts[m[1]]
	}
	switch m[2] {
	case "day", "天":
		return today.AddDate(0, 0, -n), true
	case "week", "周", "星期":
		return today.AddDate(0, 0, -7*n), true
	case "month", "月":
		return today.AddDate(0, -n, 0), true
	}
	return today.AddDate(-n, 0, 0), true
}

// weekday resolves a day of the week: the one before today with "last", else the next one, today included.
func weekday(s string, today time.Time) (time.Time, bool) {
	if m := dayNames.FindStringSubmatch(s); m != nil {
		return nearDay(dayNumber[m[2]], m[1], today), true
	}
	if m := hanDay.FindStringSubmatch(s); m != nil {
		if m[1] == "" {
			return nearDay(dayNumber[m[2]], "", today), true
		}
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
		d := monday.AddDate(0, 0, (dayNumber[m[2]]+6)%7)
		return d.AddDate(0, 0, map[string]int{"上": -7, "下": 7}[m[1]]), true
	}
	return today, false
}

func nearDay(n int, word string, today time.Time) time.Time {
	ahead := (n - int(today.Weekday()) + 7) % 7
	switch word {
	case "last":
		return today.AddDate(0, 0, ahead-7)
	case "next":
		if ahead == 0 {
			ahead = 7
		}
	}
	return today.AddDate(0, 0, ahead)
}

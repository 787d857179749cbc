package skald

import (
	"fmt"
	"regexp"
	"time"
)

var calendarVariable = regexp.MustCompile(`\{calendar:([^{}]*)\}`)

// expandCalendar replaces OpenViking's variables {calendar:today} and the like by parts of the day's date (UTC). Other braces stay. It
// fails with KindInvalid on a name that is none.
func expandCalendar(uri string, now time.Time) (string, error) {
	var unknown string
	expanded := calendarVariable.ReplaceAllStringFunc(uri, func(match string) string {
		name := calendarVariable.FindStringSubmatch(match)[1]
		value, ok := calendar(name, now.UTC())
		if !ok && unknown == "" {
			unknown = match
		}
		return value
	})
	if unknown != "" {
		return "", &Error{Op: "calendar", URI: clip(uri), Field: "uri", Kind: KindInvalid,
			Err: fmt.Errorf("%s is unknown: today, yesterday, tomorrow, year, month, day, ym, quarter, yq, week and yw are known", unknown)}
	}
	return expanded, nil
}

func calendar(name string, now time.Time) (string, bool) {
	const day = "2006/01/02"
	quarter := fmt.Sprintf("Q%d", (int(now.Month())+2)/3)
	isoYear, week := now.ISOWeek()
	switch name {
	case "today":
		return now.Format(day), true
	case "yesterday":
		return now.AddDate(0, 0, -1).Format(day), true
	case "tomorrow":
		return now.AddDate(0, 0, 1).Format(day), true
	case "year":
		return now.Format("2006"), true
	case "month":
		return now.Format("01"), true
	case "day":
		return now.Format("02"), true
	case "ym":
		return now.Format("2006/01"), true
	case "quarter":
		return quarter, true
	case "yq":
		return now.Format("2006/") + quarter, true
	case "week":
		return fmt.Sprintf("%02d", week), true
	case "yw":
		return fmt.Sprintf("%d/w%02d", isoYear, week), true
	}
	return "", false
}

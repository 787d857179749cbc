package api

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	ago   = regexp.MustCompile(`^(\d{1,9})([smhdw])$`)
	units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
)

const century = 100 * 365 * 24 * time.Hour

// layouts are the spellings of a time; where none is given the zone is UTC.
var layouts = []string{
	"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15",
	"20060102T150405Z07:00", "20060102T150405",
}

// readTime reads a time of day or a day: of the latter its first moment, or with end its last.
func readTime(s string, end bool) (time.Time, error) {
	s = strings.TrimSpace(s)
	for _, day := range []string{"2006-01-02", "20060102"} {
		if t, err := time.Parse(day, s); err == nil {
			if end {
				t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
			}
			return t, nil
		}
	}
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: use 2026-03-01, 2026-03-01T10:00:00Z or 7d", s)
}

// since reads a bound that may count back from now: 30s, 15m, 2h, 7d, 4w. An empty text is no bound.
func since(s string, end bool, now time.Time) (time.Time, error) {
	if s = strings.TrimSpace(s); s == "" {
		return time.Time{}, nil
	}
	if m := ago.FindStringSubmatch(s); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64) // digits
		if unit := units[m[2]]; n <= int64(century/unit) {
			return now.Add(-time.Duration(n) * unit), nil
		}
		return time.Time{}, fmt.Errorf("%q is longer than a century", s)
	}
	return readTime(s, end)
}

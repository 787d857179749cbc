package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// text is an answer in the making: short plain lines.
type text struct{ lines []string }

func (t *text) add(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *text) String() string { return strings.Join(t.lines, "\n") }

// number writes 12345 as 12,345.
func number[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count is a number with its noun: 1 turn, 12 turns.
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

func bytesOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
}

// since says how long ago something was, roughly.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d.Minutes()), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return count(int(d.Hours()), "hour", "hours") + " ago"
	}
	return "on " + t.UTC().Format("2 Jan 2006")
}

func percent(part, whole int) string {
	if whole <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// clip is one line of at most most characters.
func clip(s string, most int) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}

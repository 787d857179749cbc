package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// scalar reads one text of YAML that stands on one line: quoted, or plain.
func scalar(s string) (string, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", nil
	case s[0] == '\'':
		if end := closing(s, '\''); end > 0 && comment(s[end+1:]) == "" {
			return strings.ReplaceAll(s[1:end], "''", "'"), nil
		}
		return "", errors.New("text follows a closing quote, or the quote is not closed")
	case s[0] == '"':
		end := closing(s, '"')
		if end < 0 || comment(s[end+1:]) != "" {
			return "", errors.New("text follows a closing quote, or the quote is not closed")
		}
		var out string
		if err := json.Unmarshal([]byte(s[:end+1]), &out); err != nil {
			return "", fmt.Errorf("the quoted text %s is not understood", s[:end+1])
		}
		return out, nil
	}
	return plain(comment(s)), nil
}

// plain is a text without quotes. A null is no text.
func plain(s string) string {
	switch s {
	case "~", "null", "Null", "NULL":
		return ""
	}
	return s
}

// closed tells whether the quote that s begins with is closed.
func closed(s string, mark byte) bool { return closing(s, mark) > 0 }

// closing is the place of the quote that closes the one at the begin of s; -1 when none does.
func closing(s string, mark byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && mark == '"':
			i++
		case s[i] == mark && mark == '\'' && i+1 < len(s) && s[i+1] == mark:
			i++
		case s[i] == mark:
			return i
		}
	}
	return -1
}

// outside splits s at the separators that stand neither in quotes nor in round brackets, as in "Read, Bash(git add:*)".
func outside(s, separators string) (parts []string) {
	begin, depth := 0, 0
	var mark rune
	for i, r := range s {
		switch {
		case mark != 0:
			if r == mark {
				mark = 0
			}
		case (r == '"' || r == '\'') && strings.TrimSpace(s[begin:i]) == "":
			mark = r
		case r == '(':
			depth++
		case r == ')':
			depth = max(0, depth-1)
		case depth == 0 && strings.ContainsRune(separators, r):
			parts = append(parts, strings.TrimSpace(s[begin:i]))
			begin = i + len(string(r))
		}
	}
	return append(parts, strings.TrimSpace(s[begin:]))
}

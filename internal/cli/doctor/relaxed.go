package doctor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// readRelaxed reads the host's configuration, which may be JSON5: comments, trailing commas, bare keys and single quotes are allowed
// there.
func readRelaxed(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(strict(string(text))), to); err != nil {
		return fmt.Errorf("cannot be read as JSON or JSON5: %w", err)
	}
	return nil
}

var (
	bareKey       = regexp.MustCompile(`([{,]\s*)([A-Za-z_$][\w$]*)(\s*:)`)
	trailingComma = regexp.MustCompile(`,(\s*[}\]])`)
)

// strict turns the common part of JSON5 into JSON. Strings are taken out first, so that nothing in them is touched.
func strict(text string) string {
	var out strings.Builder
	var kept []string
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case rest[0] == '"' || rest[0] == '\'':
			end := stringEnd(rest)
			fmt.Fprintf(&out, "\x00%d\x00", len(kept))
			kept = append(kept, quoted(rest[:end]))
			i += end
		case strings.HasPrefix(rest, "//"):
			i += until(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			i += min(len(rest), until(rest, "*/")+2)
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
	body := trailingComma.ReplaceAllString(bareKey.ReplaceAllString(out.String(), `$1"$2"$3`), "$1")
	for n, s := range kept {
		body = strings.Replace(body, fmt.Sprintf("\x00%d\x00", n), s, 1)
	}
	return body
}

func until(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i
	}
	return len(text)
}

// stringEnd is where the string literal at the start of text ends.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// quoted turns a single-quoted literal into a double-quoted one.
func quoted(literal string) string {
	if literal[0] == '"' || len(literal) < 2 {
		return literal
	}
	inner := strings.ReplaceAll(literal[1:len(literal)-1], `\'`, `'`)
	return `"` + strings.ReplaceAll(inner, `"`, `\"`) + `"`
}

package skill

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// value is what a key of the front matter holds: a text, a list of texts, or something that skills do not need (a map).
type value struct {
	text string
	list []string
	kind valueKind
}

type valueKind int

const (
	ofText valueKind = iota
	ofList
	ofMap
)

// front reads the part of YAML that front matter is written in: texts (plain, quoted, over several lines, literal and folded blocks), lists
// (in brackets and with dashes), and maps, whose content is passed over. Anchors, aliases, tags and further documents are refused.
type front struct {
	lines []string
	at    int
}

var errNoFront = errors.New("a SKILL.md begins with front matter: a line ---, name: and description:, and a line ---")

// split cuts a SKILL.md into the lines of its front matter and the body, which stays as it is. A byte-order mark and blank lines may stand
// before the front matter; a --- below it belongs to the body.
func split(text string) (lines []string, body string, err error) {
	rest := strings.TrimPrefix(text, "\uFEFF")
	for {
		line, after, more := strings.Cut(rest, "\n")
		switch {
		case strings.TrimRight(line, " \t\r") == "---" && more:
			return header(after)
		case strings.TrimSpace(line) != "" || !more:
			return nil, "", errNoFront
		}
		rest = after
	}
}

func header(rest string) (lines []string, body string, err error) {
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		line = strings.TrimRight(line, " \t\r")
		if line == "---" || line == "..." {
			return lines, after, nil
		}
		lines, rest = append(lines, line), after
	}
	return nil, "", errors.New("the front matter is not closed: a line --- is missing")
}

// parse reads all keys of the top level.
func (f *front) parse() (map[string]value, error) {
	out := map[string]value{}
	for f.skip(); f.at < len(f.lines); f.skip() {
		line := f.lines[f.at]
		if indent(line) > 0 {
			return nil, f.errorf("the line belongs to no key")
		}
		key, rest, ok := cutKey(line)
		if !ok {
			return nil, f.errorf("expected \"key: value\"")
		}
		if _, twice := out[key]; twice {
			return nil, f.errorf("the key %q stands there twice", key)
		}
		v, err := f.value(rest)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

// value reads what stands behind a key and the lines that belong to it; at is then behind them.
func (f *front) value(rest string) (value, error) {
	if strings.ContainsAny(firstRune(rest), "&*!%@`") {
		return value{}, f.errorf("anchors, tags and directives are not understood: put the text in quotes")
	}
	switch first := firstRune(rest); {
	case first == "|" || first == ">":
		f.at++
		return value{text: f.block(first == ">")}, nil
	case first == "[" || first == "{":
		return f.flow(rest, first == "{")
	case first == `"` || first == "'":
		text, err := f.quoted(rest, first[0])
		return value{text: text}, err
	case rest == "" || first == "#":
		f.at++
		return f.nested()
	}
	f.at++
	return value{text: plain(strings.Join(append([]string{comment(rest)}, f.deeper()...), " "))}, nil
}

// nested reads a list with dashes, a map, or a text that begins on the line below its key.
func (f *front) nested() (value, error) {
	f.skip()
	if f.at >= len(f.lines) {
		return value{}, nil
	}
	line := f.lines[f.at]
	if isItem(line) {
		return f.items(indent(line))
	}
	if indent(line) == 0 {
		return value{}, nil
	}
	if _, _, isKey := cutKey(strings.TrimSpace(line)); isKey {
		f.deeper()
		return value{kind: ofMap}, nil
	}
	return value{text: plain(strings.Join(f.deeper(), " "))}, nil
}

// items reads a list with dashes; it may stand at its key's own depth.
func (f *front) items(depth int) (value, error) {
	v := value{kind: ofList, list: []string{}}
	for f.skip(); f.at < len(f.lines) && isItem(f.lines[f.at]) && indent(f.lines[f.at]) == depth; f.skip() {
		item := strings.TrimSpace(strings.TrimSpace(f.lines[f.at])[1:])
		if first := firstRune(item); first == "[" || first == "{" || first == "|" || first == ">" {
			return v, f.errorf("an entry of a list is a text")
		}
		text, err := scalar(item)
		if err != nil {
			return v, f.errorf("%s", err)
		}
		f.at++
		for f.at < len(f.lines) && indent(f.lines[f.at]) > depth && !isItem(f.lines[f.at]) {
			text, f.at = text+" "+strings.TrimSpace(f.lines[f.at]), f.at+1
		}
		v.list = append(v.list, text)
	}
	return v, nil
}

// block reads the lines of a literal (|) or folded (>) text.
func (f *front) block(folded bool) string {
	var lines []string
	depth := 0
	for ; f.at < len(f.lines) && (f.lines[f.at] == "" || indent(f.lines[f.at]) > 0); f.at++ {
		line := f.lines[f.at]
		if depth == 0 {
			depth = indent(line)
		}
		lines = append(lines, line[min(depth, indent(line)):])
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if !folded {
		return text
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n")
}

// flow reads a list in brackets, or passes over a map in braces; both may go over several lines.
func (f *front) flow(rest string, isMap bool) (value, error) {
	open, end := "[", "]"
	if isMap {
		open, end = "{", "}"
	}
	text := comment(rest)
	for !strings.HasSuffix(text, end) || strings.Count(text, open) != strings.Count(text, end) {
		f.at++
		if f.at >= len(f.lines) || indent(f.lines[f.at]) == 0 && !strings.HasPrefix(f.lines[f.at], end) {
			f.at = min(f.at, len(f.lines)) - 1
			return value{}, f.errorf("a %s is missing", end)
		}
		text += " " + comment(strings.TrimSpace(f.lines[f.at]))
	}
	f.at++
	if isMap {
		return value{kind: ofMap}, nil
	}
	v := value{kind: ofList, list: []string{}}
	for _, item := range outside(text[1:len(text)-1], ",") {
		text, err := scalar(item)
		if err != nil {
			f.at--
			return v, f.errorf("%s", err)
		}
		if text != "" {
			v.list = append(v.list, text)
		}
	}
	return v, nil
}

// quoted reads a quoted text, which may go over several lines.
func (f *front) quoted(rest string, mark byte) (string, error) {
	text := rest
	for !closed(text, mark) {
		f.at++
		if f.at >= len(f.lines) {
			f.at--
			return "", f.errorf("a closing %c is missing", mark)
		}
		text += " " + strings.TrimSpace(f.lines[f.at])
	}
	f.at++
	out, err := scalar(text)
	if err != nil {
		f.at--
		return "", f.errorf("%s", err)
	}
	return out, nil
}

// deeper takes the lines that stand deeper than the top level, trimmed, without comments.
func (f *front) deeper() (lines []string) {
	for ; f.at < len(f.lines) && (f.lines[f.at] == "" || indent(f.lines[f.at]) > 0); f.at++ {
		if line := comment(strings.TrimSpace(f.lines[f.at])); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// skip passes over blank lines and comments.
func (f *front) skip() {
	for f.at < len(f.lines) {
		if line := strings.TrimSpace(f.lines[f.at]); line != "" && line[0] != '#' {
			return
		}
		f.at++
	}
}

func (f *front) errorf(format string, args ...any) error {
	return fmt.Errorf("front matter, line %d: %s", f.at+2, fmt.Sprintf(format, args...)) // the first line is ---
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func isItem(line string) bool {
	line = strings.TrimSpace(line)
	return line == "-" || strings.HasPrefix(line, "- ")
}

// cutKey cuts "key: value". The key may be quoted.
func cutKey(line string) (key, rest string, ok bool) {
	key, rest, ok = strings.Cut(line, ":")
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", false
	}
	key = strings.Trim(strings.TrimSpace(key), `"'`)
	return key, strings.TrimSpace(rest), key != "" && !strings.ContainsFunc(key, unicode.IsSpace)
}

// comment cuts a comment off the end of a line: it stands behind white space, outside of quotes.
func comment(line string) string {
	var mark rune
	before := ' '
	for i, r := range line {
		switch {
		case mark != 0 && r == mark:
			mark = 0
		case mark == 0 && (r == '"' || r == '\'') && strings.ContainsRune(" [,", before):
			mark = r
		case mark == 0 && r == '#' && (before == ' ' || before == '\t'):
			return strings.TrimSpace(line[:i])
		}
		before = r
	}
	return strings.TrimSpace(line)
}

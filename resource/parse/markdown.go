package parse

import (
	"context"
	"regexp"
	"strings"
)

// markdown keeps the text as it is; a front matter's title counts.
func markdown(_ context.Context, in Input) (Document, error) {
	s := decode(in.Body)
	d := Document{Text: s, Own: true}
	for _, h := range Headings(s) {
		if d.Title == "" && h.Level == 1 {
			d.Title = h.Text
		}
		d.Outline = append(d.Outline, strings.Repeat("  ", h.Level-1)+h.Text)
	}
	if t := frontTitle(s); t != "" {
		d.Title = t
	}
	return d, nil
}

// text is plain text.
func text(_ context.Context, in Input) (Document, error) {
	return Document{Text: decode(in.Body), Own: true}, nil
}

// Heading is a line that opens a section.
type Heading struct {
	Level int // 1 to 6
	Text  string
	Start int // byte where its line begins
}

var (
	atx      = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*$`)
	fence    = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	titleRow = regexp.MustCompile(`(?m)^title:[ \t]*["']?(.+?)["']?[ \t]*$`)
	links    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	emphasis = strings.NewReplacer("**", "", "__", "", "`", "")
)

// Headings lists the headings of a Markdown text. What stands in fenced code is none.
func Headings(s string) (list []Heading) {
	at, fenced, last, lastAt := len(frontMatter(s)), "", "", 0
	for line := range strings.Lines(s[at:]) {
		trimmed := strings.TrimRight(line, "\n")
		switch m := fence.FindStringSubmatch(trimmed); {
		case m != nil && fenced == "":
			fenced = m[1][:3]
		case m != nil && strings.HasPrefix(m[1], fenced):
			fenced = ""
		case fenced != "":
		default:
			if h := atx.FindStringSubmatch(trimmed); h != nil {
				list = append(list, Heading{len(h[1]), Inline(h[2]), at})
			} else if level := underline(trimmed); level > 0 && last != "" {
				list = append(list, Heading{level, Inline(last), lastAt})
			}
		}
		last, lastAt = strings.TrimSpace(trimmed), at
		if fenced != "" || strings.HasPrefix(last, "#") || strings.HasPrefix(last, "|") || strings.HasPrefix(last, "-") {
			last = ""
		}
		at += len(line)
	}
	return list
}

// underline is the level of a heading that is underlined: === is 1, --- is 2.
func underline(line string) int {
	if len(line) < 3 || strings.HasPrefix(line, "    ") {
		return 0
	}
	switch t := strings.TrimSpace(line); {
	case strings.Trim(t, "=") == "" && t != "":
		return 1
	case strings.Trim(t, "-") == "" && len(t) >= 3:
		return 2
	}
	return 0
}

// Inline is a text without links and emphasis.
func Inline(s string) string {
	return strings.TrimSpace(emphasis.Replace(links.ReplaceAllString(s, "$1")))
}

// frontMatter is the block between two lines of --- at the start of a text.
func frontMatter(s string) string {
	if !strings.HasPrefix(s, "---\n") {
		return ""
	}
	end := strings.Index(s[4:], "\n---")
	if end < 0 || end > 16<<10 {
		return ""
	}
	rest := s[4+end+4:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 && strings.TrimSpace(rest[:i]) == "" {
		return s[:4+end+4+i+1]
	}
	return ""
}

func frontTitle(s string) string {
	if m := titleRow.FindStringSubmatch(frontMatter(s)); m != nil {
		return m[1]
	}
	return ""
}

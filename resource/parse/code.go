package parse

import (
	"context"
	"regexp"
	"strings"
)

// maxDeclarations is how many declarations an outline names.
const maxDeclarations = 200

// declaration is a line that declares something in one of the common languages. The table is one: a false hit costs a line of an outline.
var declaration = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?:export\s+)?(?:default\s+)?(?:async\s+)?function\*?\s+\w+.*`, // JavaScript, PHP, shell
	`(?:export\s+)?(?:abstract\s+)?(?:public\s+|private\s+|protected\s+|internal\s+|static\s+|final\s+|sealed\s+|data\s+|open\s+)*` +
		`(?:class|interface|enum|record|trait|object|struct|namespace|module|protocol|extension)\s+[A-Z_a-z]\w*.*`,
	`func\s+(?:\([^)]*\)\s*)?\w+.*`, // Go, Swift
	`type\s+\w+.*`,                  // Go, TypeScript
	`\s{0,8}(?:async\s+)?def\s+\w+.*`,
	`(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*(?:fn|struct|enum|trait|mod|impl)\b.*`, // Rust
	`(?:export\s+)?const\s+\w+\s*=\s*(?:async\s*)?\(.*`,
	`(?:message|service|rpc|enum)\s+\w+.*`,                                       // protobuf
	`(?:resource|data|module|variable|output|provider)\s+"[^"]+".*`,              // Terraform
	`(?i:create\s+(?:or\s+replace\s+)?(?:table|view|function|index)).*`,          // SQL
	`(?:[A-Za-z_][\w:<>,*&\s]*\s)?[A-Za-z_][\w:]*\([^;]*\)\s*(?:const)?\s*\{\s*`, // C, C++, Java at the margin
}, "|") + `)$`)

var notDeclared = regexp.MustCompile(`^(?:if|for|while|switch|catch|else|return|do|try)\b`)

// code keeps source text as it is, with the declarations as its outline and its first comment as its abstract.
func code(_ context.Context, in Input) (Document, error) {
	s := decode(in.Body)
	d := Document{Text: s, Own: true, Abstract: firstComment(s)}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n{")
		if len(line) > 200 || len(d.Outline) >= maxDeclarations {
			continue
		}
		if (declaration.MatchString(line) || declaration.MatchString(line+" {")) && !notDeclared.MatchString(line) {
			d.Outline = append(d.Outline, line)
		}
	}
	return d, nil
}

var (
	commentMark = regexp.MustCompile(`^\s*(?://+!?|#+|--+|;+|%+|\*+|/\*+)\s?`)
	licence     = regexp.MustCompile(`(?i)copyright|licen[cs]e|spdx|all rights reserved|generated|coding[:=]|-\*-`)
)

// firstComment is the first paragraph of comment that says something of the file.
func firstComment(s string) string {
	var said []string
	quoted := false
	for i, line := range strings.SplitN(s, "\n", 60) {
		t := strings.TrimSpace(line)
		opens := strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, "'''")
		switch {
		case i == 0 && strings.HasPrefix(t, "#!"):
			continue
		case opens || quoted:
			closing := strings.Count(t, `"""`)+strings.Count(t, "'''") >= 2 || quoted && (strings.Contains(t, `"""`) || strings.Contains(t, "'''"))
			quoted = !closing
			t = strings.Trim(t, `"'`)
		case commentMark.MatchString(line):
			t = strings.TrimSuffix(strings.TrimSpace(commentMark.ReplaceAllString(line, "")), "*/")
			t = strings.TrimSpace(t)
		default:
			if len(said) > 0 {
				return strings.Join(said, " ")
			}
			if t != "" && len(said) == 0 && i > 20 {
				return ""
			}
			continue
		}
		switch {
		case t == "" && len(said) > 0:
			return strings.Join(said, " ")
		case licence.MatchString(t):
			said = nil
		case t != "":
			said = append(said, t)
		}
	}
	return strings.Join(said, " ")
}

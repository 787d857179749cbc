package api

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Bounds of a regular expression. Go's take time in proportion to their steps times the text, so a large one over a long text holds a
// processor for minutes.
const (
	maxExpression = 1000 // characters
	maxSteps      = 5000 // instructions that it compiles to: x{1000} has 1000
)

// expression compiles a regular expression of a caller's.
func expression(pattern string) (*regexp.Regexp, error) {
	if n := utf8.RuneCountInString(pattern); n > maxExpression {
		return nil, fmt.Errorf("it has %d characters, at most %d are allowed", n, maxExpression)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if n := len(program.Inst); n > maxSteps {
		return nil, fmt.Errorf("it is too large: its repetitions come to %d steps, at most %d are allowed", n, maxSteps)
	}
	return regexp.Compile(pattern)
}

// Package sentence cuts English and Chinese text into sentences, for the builtin summariser and extractor: both quote, so a
// sentence is a substring of its text.
package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Split returns the sentences of text in order, trimmed, list marks kept. Lines end sentences; so do 。！？； and a full stop,
// question or exclamation mark that is followed by a space and is not part of an abbreviation, a number or a version.
func Split(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		out = splitLine(out, strings.TrimSpace(line))
	}
	return out
}

func splitLine(out []string, line string) []string {
	start, depth := 0, 0
	for i, r := range line {
		next := i + utf8.RuneLen(r)
		switch r {
		case '`':
			depth ^= 1
		case '。', '！', '？', '；':
			out, start = cut(out, line, start, closers(line, next))
		case '.', '!', '?', ';', '…':
			if depth == 0 && ends(line, i, next) {
				out, start = cut(out, line, start, closers(line, next))
			}
		}
	}
	out, _ = cut(out, line, start, len(line))
	return out
}

func cut(out []string, line string, start, end int) ([]string, int) {
	if end <= start {
		return out, start
	}
	if s := strings.TrimSpace(line[start:end]); Letters(s) > 0 {
		out = append(out, s)
	} else if len(out) > 0 && s != "" && start > 0 {
		out[len(out)-1] += s
	}
	return out, end
}

// closers moves past quotes and brackets that close behind a sentence's end.
func closers(line string, i int) int {
	for i < len(line) {
		r, n := utf8.DecodeRuneInString(line[i:])
		if !strings.ContainsRune(`"')]}”’」』）。！？!?.`, r) {
			break
		}
		i += n
	}
	return i
}

var abbreviations = map[string]bool{"e.g": true, "i.e": true, "etc": true, "dr": true, "mr": true, "mrs": true, "ms": true, "vs": true,
	"st": true, "no": true, "approx": true, "jr": true, "sr": true, "inc": true, "ca": true, "cf": true, "fig": true}

// ends reports whether the mark at line[i:next] ends a sentence.
func ends(line string, i, next int) bool {
	rest := line[closers(line, next):]
	if rest == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	if !unicode.IsSpace(r) && !unicode.Is(unicode.Han, r) {
		return false
	}
	if line[i] != '.' {
		return true
	}
	word := strings.ToLower(line[strings.LastIndexAny(line[:i], " ([\"'")+1 : i])
	if abbreviations[word] || utf8.RuneCountInString(word) == 1 && word != "i" && !unicode.IsDigit(rune(word[0])) {
		return false
	}
	follow, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t\"'([`*_#-"))
	return !isNumber(word) || !unicode.IsLower(follow) || len(word) > 2
}

func isNumber(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// Letters counts letters and digits.
func Letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// Lang is "zh" when Han characters carry the text, else "en": one word of another script does not change the language (MEM-05).
func Lang(text string) string {
	han, words, in := 0, 0, false
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			han++
			in = false
			continue
		}
		letter := unicode.IsLetter(r)
		if letter && !in {
			words++
		}
		in = letter
	}
	// A Chinese word has about one and a half characters.
	if han*2 > words*3 {
		return "zh"
	}
	return "en"
}

// Clip shortens s to at most n characters, at the end of a clause or word where one is near, with an ellipsis.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n-1]
	for i := len(r) - 1; i >= n/2; i-- {
		if strings.ContainsRune(" ,;，、。；：:)", r[i]) {
			return strings.TrimRight(string(r[:i+1]), " ,;，、：:") + "…"
		}
	}
	return string(r) + "…"
}

package trial

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/skald-engine/skald/index/analyze"
)

// values lists what a text states that can be said in one way only: numbers of three digits and more, identifiers, paths, addresses, texts
// in backticks. Each is the analyser's term, so that two spellings of one thing are one value. No value twice.
func values(text string) []string {
	var list []string
	seen := map[string]bool{}
	for _, chunk := range strings.FieldsFunc(thousands.ReplaceAllString(text, "$1$2"), separates) {
		chunk = strings.TrimRight(strings.TrimLeft(chunk, ":=-+*'#@"), ".:=-+*'%/")
		if !exact(chunk) {
			continue
		}
		if v := valueKey(chunk); v != "" && !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return list
}

// valueKey is the analyser's term for a whole chunk.
func valueKey(chunk string) string {
	terms := analyze.Terms(chunk)
	if len(terms) == 0 {
		return ""
	}
	return terms[0]
}

// separates reports characters that end a value: all but those of ASCII words and the joints inside of identifiers.
func separates(r rune) bool {
	if r > unicode.MaxASCII {
		return !unicode.IsLetter(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@\\+#~=%'*", r)
}

var (
	thousands = regexp.MustCompile(`(\d),(\d{3})\b`)
	version   = regexp.MustCompile(`^[vV]\d+(?:\.\d+)+$`)
	number    = regexp.MustCompile(`^[vV]?\d+(?:[.:/\-]\d+)*$`)
	year      = regexp.MustCompile(`^(?:19|20)\d\d$`)
	quantity  = regexp.MustCompile(`^\d{1,2}(?:\.\d)?[A-Za-z]{1,5}$`) // 1st, 20th, 30min, 5k
	extension = regexp.MustCompile(`\w\.(?:md|txt|go|py|ts|tsx|js|jsx|mjs|rs|java|rb|php|c|h|cc|cpp|hpp|cs|swift|kt|sh|sql|json|jsonl|ya?ml|toml|ini|cfg|conf|env|` +
		`log|csv|tsv|xml|html|css|lock|pdf|png|jpe?g|svg|zip|tar|gz|com|org|net|io|dev|app|de|cn)$`)
)

// exact reports a chunk that is a value by its shape. Words with a hyphen, pairs like "and/or", years and small quantities are none.
func exact(s string) bool {
	if len(s) < 3 || len(s) > 200 {
		return false
	}
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	switch {
	case version.MatchString(s):
		return true
	case number.MatchString(s):
		return digits >= 3 && !year.MatchString(s)
	case digits > 0 && letters > 0:
		return !quantity.MatchString(s)
	case letters == 0:
		return false
	case strings.Contains(s, "://"), extension.MatchString(s):
		return true
	case strings.Contains(s, "@"):
		return strings.Contains(s[strings.Index(s, "@"):], ".")
	case strings.Contains(strings.Trim(s, "_"), "_"):
		return true
	}
	return strings.HasPrefix(s, "~/") || strings.Count(s, "/") >= 2 && strings.HasPrefix(s, "/")
}

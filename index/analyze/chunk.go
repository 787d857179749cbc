package analyze

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// chunks cuts a run of word characters and joiners where a joiner is doubled ("wait...what", "this--that"), except in "://" and "::".
func chunks(s string, out sink) {
	start := 0
	for i := 1; i < len(s); i++ {
		if c := s[i]; c == s[i-1] && class[c] == joiner && (c == '.' || c == '-' || c == '\'') {
			chunk(s[start:i], out)
			start = i + 1
		}
	}
	chunk(s[start:], out)
}

// chunk emits one word or identifier.
func chunk(s string, out sink) {
	s = trim(s)
	if s == "" {
		return
	}
	simple := true // letters and digits of ASCII alone, without a joiner or an inner capital
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, class[c] == joiner, class[c] == upper && i > 0 && class[s[i-1]] == lower:
			simple = false
		}
	}
	if simple {
		out.word(stem(s), nil)
		return
	}
	identifier(s, out)
}

// trim takes joiners off both ends; "#" and "++" stay after a letter or two (C#, F#, C++).
func trim(s string) string {
	for len(s) > 0 && class[s[0]] == joiner {
		s = s[1:]
	}
	end := len(s)
	for end > 0 && class[s[end-1]] == joiner {
		end--
	}
	if tail := s[end:]; end > 0 && end <= 2 && class[s[0]] != digit {
		if strings.HasPrefix(tail, "#") {
			return s[:end+1]
		}
		if strings.HasPrefix(tail, "++") {
			return s[:end+2]
		}
	}
	return s[:end]
}

// identifier emits a word with joiners or inner capitals: whole, and its parts.
func identifier(s string, out sink) {
	if word, ok := apostrophe(s); ok {
		out.word(word, nil)
		return
	}
	var parts []string
	add := func(p string) {
		if utf8.RuneCountInString(p) > 1 || len(p) == 1 && class[p[0]] == digit {
			parts = append(parts, stem(p))
		}
	}
	pieces := strings.FieldsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && class[r] == joiner && r != '\'' })
	for _, p := range pieces {
		if word, ok := apostrophe(p); ok {
			parts = append(parts, word)
			continue
		}
		humps := camel(p)
		if len(humps) > 1 {
			if len(pieces) > 1 {
				add(p)
			}
			for _, h := range humps {
				add(h)
			}
		} else {
			add(p)
		}
	}
	if len(pieces) == 1 && len(pieces[0]) == len(s) {
		if len(parts) < 2 { // one plain word beyond ASCII, or a capital inside that parts nothing
			out.word(stem(s), nil)
			return
		}
		out.word(stem(s), parts)
		return
	}
	out.word(bounded(strings.ToLower(s)), parts)
}

// apostrophe handles a word whose only joiners are apostrophes: the possessive loses its ending, a contraction stays whole.
func apostrophe(s string) (string, bool) {
	at := strings.IndexByte(s, '\'')
	if at < 0 {
		return "", false
	}
	for i := 0; i < len(s); i++ {
		if class[s[i]] == joiner && s[i] != '\'' {
			return "", false
		}
	}
	if base, ok := strings.CutSuffix(strings.ToLower(s), "'s"); ok && !strings.Contains(base, "'") {
		return stem(base), true
	}
	return bounded(strings.ToLower(s)), true
}

// camel cuts at inner capitals: maxOldSpace, HTTPServer.
func camel(s string) []string {
	var out []string
	start := 0
	runes := []rune(s)
	for i := 1; i < len(runes); i++ {
		up := unicode.IsUpper(runes[i])
		if up && unicode.IsLower(runes[i-1]) || up && i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1]) {
			out = append(out, string(runes[start:i]))
			start = i
		}
	}
	return append(out, string(runes[start:]))
}

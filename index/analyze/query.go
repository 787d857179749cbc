package analyze

// Word is one word of a query. Parts are weaker ways to find it: the parts of an identifier, the characters of a bigram.
type Word struct {
	Term  string
	Parts []string
}

// Query lists the search terms of a text without repeats, in order. Stop words are dropped unless nothing else is left. A text of
// punctuation alone gives none.
func Query(text string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(t string) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	for _, w := range Words(text) {
		add(w.Term)
		for _, p := range w.Parts {
			add(p)
		}
	}
	return out
}

// Words is Query with the terms that belong together kept together, for ranking.
func Words(text string) []Word {
	s := &querySink{seen: map[string]bool{}}
	scan(text, s)
	if len(s.words) == 0 {
		return s.stops
	}
	return s.words
}

type querySink struct {
	words, stops []Word
	seen         map[string]bool
}

func (s *querySink) add(w Word, isStop bool) {
	if s.seen[w.Term] {
		return
	}
	s.seen[w.Term] = true
	if isStop {
		s.stops = append(s.stops, w)
	} else {
		s.words = append(s.words, w)
	}
}

func (s *querySink) word(term string, parts []string) {
	var kept []string
	for _, p := range parts {
		if p != term && !stop[p] {
			kept = append(kept, p)
		}
	}
	s.add(Word{term, kept}, stop[term])
}

func (s *querySink) run(chars []rune) {
	if len(chars) == 1 {
		s.add(Word{Term: string(chars)}, stopChar[chars[0]])
		return
	}
	for i := 0; i+1 < len(chars); i++ {
		pair := chars[i : i+2]
		var parts []string
		for _, r := range pair {
			if !stopChar[r] {
				parts = append(parts, string(r))
			}
		}
		s.add(Word{string(pair), parts}, len(parts) == 0)
	}
}

package trial

import "slices"

// book holds what users stated so far, in the order of time.
type book struct {
	list    []statement
	byValue map[string][]int
	byWord  map[string][]int
}

func newBook() *book { return &book{byValue: map[string][]int{}, byWord: map[string][]int{}} }

func (b *book) add(s statement) {
	n := len(b.list)
	b.list = append(b.list, s)
	for _, v := range s.values {
		b.byValue[v] = append(b.byValue[v], n)
	}
	for w := range s.words {
		b.byWord[w] = append(b.byWord[w], n)
	}
}

// Shares of a sentence's content words and values that the earlier statement must hold: with the user's word that it was said before, and
// without.
const (
	shareCued   = 0.5
	sharePlain  = 0.6
	leastShared = 2 // words beside the values, or words at all where there is no value
)

// repeated finds the newest earlier statement that says what s says, if s adds nothing and nothing in between said otherwise.
func (b *book) repeated(s statement) (earlier statement, ok bool) {
	if s.cue == "" && (!s.claims || len(s.values) == 0) {
		return earlier, false
	}
	candidates := b.candidates(s)
	for i := len(candidates) - 1; i >= 0; i-- {
		e := b.list[candidates[i]]
		if e.at == s.at {
			continue
		}
		if s.same(e) {
			return e, true
		}
		if s.contradicts(e) {
			return earlier, false // it was something else in between: this is a change, or news
		}
	}
	return earlier, false
}

// candidates are the statements that share a value or a word, oldest first.
func (b *book) candidates(s statement) []int {
	found := map[int]bool{}
	for _, v := range s.values {
		for _, n := range b.byValue[v] {
			found[n] = true
		}
	}
	for w := range s.words {
		for _, n := range b.byWord[w] {
			found[n] = true
		}
	}
	list := make([]int, 0, len(found))
	for n := range found {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// same reports that e says all that s says: every value, and most of the words about them.
func (s statement) same(e statement) bool {
	for _, v := range s.values {
		if !slices.Contains(e.values, v) {
			return false
		}
	}
	if s.cue == "" && finished.MatchString(s.text) && wishes.MatchString(e.text) {
		return false
	}
	shared := s.shared(e)
	least := sharePlain
	if s.cue != "" {
		least = shareCued
	}
	all := len(s.words) + len(s.values)
	if float64(shared+len(s.values)) < least*float64(all) {
		return false
	}
	if s.cue != "" && len(s.values) > 0 {
		return shared >= 1
	}
	return shared >= leastShared
}

// contradicts reports an earlier statement about the same thing with another value.
func (s statement) contradicts(e statement) bool {
	if len(s.values) == 0 || len(e.values) == 0 || len(s.words) == 0 {
		return false
	}
	for _, v := range s.values {
		if slices.Contains(e.values, v) {
			return false
		}
	}
	shared := s.shared(e)
	return shared >= leastShared && 2*shared >= len(s.words)
}

func (s statement) shared(e statement) (n int) {
	for w := range s.words {
		if e.words[w] {
			n++
		}
	}
	return n
}

package recall

import (
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald/index/analyze"
)

// word is one word of the query with what it tells.
type word struct {
	analyze.Word
	weight float64 // 1 for the prompt's own words, less for the window's
	idf    float64
	exact  bool // an identifier: a number, a name with joiners
}

// Limits of a plan: a long prompt is a text, not a question; its first and last words count.
const (
	maxWords     = 48
	shortPrompt  = 3   // words; below, the window helps
	windowWeight = 0.3 // of the newest earlier turn; halved for each older one
)

// plan picks the words to search for: those of the prompt, and those of earlier turns with less weight when the prompt alone says too
// little ("and the second one?").
func (c *course) plan() {
	c.words = planWords(c.untimed(), 1, nil)
	if len(c.asked) > 0 && len(c.words) > 0 {
		c.words = planWords(c.r.Query, timeWords, c.words)
	} else if len(c.asked) > 0 {
		c.words = planWords(c.r.Query, 1, nil)
	}
	if len(c.words) == 0 {
		return
	}
	if len(c.words) >= shortPrompt && !anaphoric(c.r.Query) {
		return
	}
	c.looksBack = true
	weight := windowWeight
	for i := len(c.r.Window) - 1; i >= 0 && weight > 0.05; i-- {
		c.words = planWords(c.r.Window[i], weight, c.words)
		weight /= 2
	}
}

// planWords adds the words of a text that are not planned already.
func planWords(text string, weight float64, words []word) []word {
	seen := map[string]bool{}
	for _, w := range words {
		seen[w.Term] = true
	}
	list := analyze.Words(text)
	if len(list) > maxWords {
		list = append(list[:maxWords/2:maxWords/2], list[len(list)-maxWords/2:]...)
	}
	for _, w := range list {
		if !seen[w.Term] {
			seen[w.Term] = true
			words = append(words, word{Word: w, weight: weight, exact: exact(w.Term)})
		}
	}
	return words
}

// exact recognises identifiers and numbers: what is either there or not.
func exact(term string) bool {
	digits, joiners, letters := 0, 0, 0
	for _, r := range term {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case strings.ContainsRune(`_-./:@\+#`, r):
			joiners++
		default:
			letters++
		}
	}
	return digits > 1 && (joiners > 0 || letters > 0 || digits > 3) || joiners > 1 && letters > 0 || joiners > 0 && digits > 0
}

var pronouns = map[string]bool{"it": true, "that": true, "this": true, "they": true, "them": true, "he": true, "she": true, "him": true,
	"her": true, "those": true, "these": true, "there": true, "one": true, "same": true}

// anaphoric reports whether a short prompt points back at what was said before.
func anaphoric(prompt string) bool {
	fields := strings.Fields(strings.ToLower(prompt))
	if len(fields) <= 8 {
		for _, f := range fields {
			if pronouns[strings.Trim(f, ".,!?;:'\"")] {
				return true
			}
		}
	}
	if utf8.RuneCountInString(prompt) <= 20 {
		for _, p := range []string{"那个", "这个", "它", "他", "她", "那", "这", "上面", "刚才", "それ", "これ", "그거"} {
			if strings.Contains(prompt, p) {
				return true
			}
		}
	}
	return false
}

// terms lists the terms to search for.
func (c *course) terms() []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range c.words {
		for _, t := range append([]string{w.Term}, w.Parts...) {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

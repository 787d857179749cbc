package recall

import (
	"maps"
	"math"
	"slices"

	"github.com/skald-engine/skald"
)

// lexicon is what the words of the query tell in one kind of text: conversations with their memories, or files.
type lexicon struct {
	words []word
	docs  int64
	df    map[string]int64
	usual float64 // terms of a text of usual length

	weight float64 // of files, beside the 1 of turns
}

// learn takes up how often the words occur.
func (l *lexicon) learn(res skald.SearchResult) {
	if l.df == nil {
		l.df = map[string]int64{}
	}
	l.docs = max(l.docs, res.Docs)
	maps.Copy(l.df, res.DF)
}

// weigh gives each word its information. A word that no document has still counts, for less: the query asks for something that nobody
// said in that word.
func (l *lexicon) weigh(words []word) {
	l.words = slices.Clone(words)
	total, n := 0.0, 0
	for i := range l.words {
		w := &l.words[i]
		if df := l.df[w.Term]; df > 0 {
			w.idf = idf(l.docs, df)
		}
		for _, p := range w.Parts {
			if df := l.df[p]; df > 0 {
				w.idf = max(w.idf, partShare*idf(l.docs, df))
			}
		}
		if w.idf > 0 {
			total, n = total+w.idf, n+1
		}
	}
	for i := range l.words {
		if w := &l.words[i]; w.idf == 0 && n > 0 {
			w.idf = -0.5 * total / float64(n) // negative: only in the denominator
		}
	}
}

func idf(docs, df int64) float64 {
	return math.Log(1 + (float64(docs)-float64(df)+0.5)/(float64(df)+0.5))
}

// lexicon is that of files, or of conversations.
func (c *course) lexicon(library bool) *lexicon {
	if library {
		return &c.library
	}
	return &c.spoken
}

// library reports a passage of a file.
func (k *candidate) library() bool { return k.file != nil }

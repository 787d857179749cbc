package recall

import (
	"encoding/binary"
	"math"
	"sort"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/analyze"
)

// BM25's constants for short conversational texts, and the weights of what is not the words.
const (
	k1 = 0.9
	b  = 0.4

	partShare   = 0.6  // what the parts of an identifier or bigram tell, beside the whole
	exactBoost  = 0.5  // for each identifier of the query that stands in the text
	phraseBoost = 0.15 // when two words of the query stand side by side as asked
	labelCut    = 0.6  // tool and stranger text must clearly outrank

	libraryWeight = 0.7 // in a recall what was said stands before what a file says about the same
)

// rank scores the loaded candidates: words and meaning first, then role, type, form, age and origin.
func (c *course) rank() {
	kept := c.kept()
	c.spoken.usual, c.library.usual, c.library.weight = average(kept, false), average(kept, true), libraryWeight
	c.score(kept, agentWeight(kept))
}

// score scores candidates, given how the agent writes.
func (c *course) score(kept []*candidate, agent float64) {
	c.spoken.weigh(c.words)
	c.library.weigh(c.words)
	for _, k := range kept {
		c.lexical(k, c.lexicon(k.library()))
	}
	c.weighMeaning(kept)
	for _, k := range kept {
		if k.score = k.base + k.meant; k.score == 0 {
			k.drop("no word of the query, and another meaning")
			continue
		}
		if k.turn != nil {
			k.scale("role", roleWeight(k.turn, agent))
		}
		k.scale("type", c.typeWeight(k.doc))
		k.scale("age", recency(k.time, c.r.Now))
		if k.label != "" {
			k.scale("origin", labelCut)
		}
	}
	c.order()
}

// average is the length of the candidates that are files, or are not, in terms.
func average(list []*candidate, library bool) float64 {
	sum, n := 0, 0
	for _, k := range list {
		if k.library() == library {
			sum, n = sum+k.doc.Length, n+1
		}
	}
	return max(1, float64(sum)/max(1, float64(n)))
}

// lexical is BM25 over the words, as a share of what the query tells: about 1 when a text of usual length has every word.
func (c *course) lexical(k *candidate, l *lexicon) {
	tf := map[string]int{}
	terms := k.terms()
	for _, t := range terms {
		tf[t]++
	}
	for _, t := range analyze.Terms(k.speaker) {
		tf[t]++
	}
	norm := k1 * (1 - b + b*float64(len(terms))/l.usual)
	sat := func(t string) float64 {
		f := float64(tf[t])
		return f * (k1 + 1) / (f + norm)
	}
	got, all, exacts, covered, told := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, w := range l.words {
		all += w.weight * math.Abs(w.idf)
		if w.idf < 0 {
			told += w.weight * -2 * w.idf
			continue
		}
		told += w.weight * w.idf
		if tf[w.Term] > 0 {
			covered += w.weight * w.idf
		}
		s := sat(w.Term) * w.idf
		if s == 0 {
			for _, p := range w.Parts {
				s += sat(p) * min(w.idf, partShare*idf(l.docs, l.df[p])) / float64(len(w.Parts))
			}
		} else if w.exact {
			exacts += exactBoost * w.weight
		}
		got += w.weight * s
	}
	if got == 0 || all == 0 {
		return
	}
	share := got / all
	k.cover = covered / told
	k.parts["cover"] = round(k.cover)
	k.parts["words"] = round(share)
	if !c.has(StageExact) {
		exacts = 0
	}
	if exacts > 0 {
		k.parts["exact"] = exacts
	}
	phrase := 0.0
	c.run(StagePhrase, func() { phrase = phraseBoost * c.phrases(terms) })
	if phrase > 0 {
		k.parts["phrase"] = round(phrase)
	}
	k.base = share * (1 + exacts + phrase)
}

// terms are the terms of the candidate's passage; those of turns are remembered.
func (k *candidate) terms() []string {
	if k.turn == nil || len(k.turn.Link) == 0 {
		return analyze.Terms(k.text)
	}
	key := string(k.turn.Link) + string(binary.BigEndian.AppendUint32(nil, uint32(k.doc.Start)))
	if list, ok := terms.Get(key); ok {
		return list
	}
	list := analyze.Terms(k.text)
	terms.Put(key, list, 24*len(list)+len(k.text))
	return list
}

// phrases is the share of the query's neighbouring words that stand side by side in the text.
func (c *course) phrases(terms []string) float64 {
	pairs := map[[2]string]bool{}
	for i := 0; i+1 < len(c.words); i++ {
		if c.words[i].weight == 1 && c.words[i+1].weight == 1 && len(c.words[i].Parts)+len(c.words[i+1].Parts) == 0 {
			pairs[[2]string{c.words[i].Term, c.words[i+1].Term}] = true
		}
	}
	if len(pairs) == 0 {
		return 0
	}
	hit := map[[2]string]bool{}
	for i := 0; i+1 < len(terms); i++ {
		if p := [2]string{terms[i], terms[i+1]}; pairs[p] {
			hit[p] = true
		}
	}
	return float64(len(hit)) / float64(len(pairs))
}

// roleWeight prefers what people said to what the agent wrote, the more so the longer the agent's text is: long answers hold many words of
// any question. An assistant with a person's name is a person in a chat. agent is the weight of agents who write as these do.
func roleWeight(t *turnText, agent float64) float64 {
	switch {
	case t.Role == skald.RoleUser:
		return 1
	case t.Role != skald.RoleAssistant:
		return 0.6
	case len(t.text) > 1500:
		return 0.4
	case t.Speaker != "":
		return 0.95
	}
	return agent
}

// agentWeight tells from the candidates how the agent writes: one whose texts are about as long as the user's talks like a person and
// holds as many facts; one who writes twice as much or more explains.
func agentWeight(kept []*candidate) float64 {
	var chars, n [2]float64
	for _, k := range kept {
		if k.turn == nil {
			continue
		}
		switch k.doc.Role {
		case skald.RoleUser:
			chars[0], n[0] = chars[0]+float64(len(k.turn.text)), n[0]+1
		case skald.RoleAssistant:
			chars[1], n[1] = chars[1]+float64(len(k.turn.text)), n[1]+1
		}
	}
	if n[0] < 5 || n[1] < 5 || chars[0] == 0 {
		return 0.5
	}
	ratio := chars[1] / n[1] / (chars[0] / n[0])
	return min(0.95, max(0.35, 0.95-(ratio-0.8)*0.45/0.6))
}

func (c *course) typeWeight(d skald.Doc) float64 {
	switch d.Kind {
	case skald.DocMemory:
		return 1.15
	case skald.DocArchive:
		return 0.9
	case skald.DocResource, skald.DocSkill:
		return c.library.weight
	}
	return 1
}

// recency is mild: what is older by months is still the answer, but of two equal texts the newer one comes first.
func recency(t, now time.Time) float64 {
	if t.IsZero() || t.After(now) {
		return 1
	}
	return 1 + 0.05*math.Exp(-now.Sub(t).Hours()/24/30)
}

// order sorts by score; ties by time, newest first, then by place, so that the order is the same every time (SRC-03).
func (c *course) order() {
	sort.SliceStable(c.found, func(i, j int) bool {
		a, b := c.found[i], c.found[j]
		switch {
		case a.score != b.score:
			return a.score > b.score
		case !a.time.Equal(b.time):
			return a.time.After(b.time)
		case a.doc.Session != b.doc.Session:
			return a.doc.Session < b.doc.Session
		case a.doc.Seq != b.doc.Seq:
			return a.doc.Seq > b.doc.Seq
		case a.doc.URI != b.doc.URI:
			return a.doc.URI < b.doc.URI
		}
		return a.doc.Start < b.doc.Start
	})
}

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

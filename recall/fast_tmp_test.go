package recall_test

import (
	"math"
	"sort"

	"github.com/skald-engine/skald"
)

type posting struct{ doc, tf int }
type inv struct {
	docs []skald.Doc
	post map[string][]posting
	avg  float64
}

func newInv() *inv { return &inv{post: map[string][]posting{}} }
func (v *inv) add(ds []skald.Doc) {
	for _, d := range ds {
		tf := map[string]int{}
		for _, t := range d.Terms {
			tf[t]++
		}
		d.ID = int64(len(v.docs) + 1)
		for t, f := range tf {
			v.post[t] = append(v.post[t], posting{len(v.docs), f})
		}
		d.Terms = nil
		v.avg += float64(d.Length)
		v.docs = append(v.docs, d)
	}
}

type fastTx struct {
	skald.Tx
	v *inv
}

func (f fastTx) Memories(skald.MemoryQuery) ([]skald.Memory, error) { return nil, nil }
func (f fastTx) Search(q skald.SearchQuery) (skald.SearchResult, error) {
	res := skald.SearchResult{DF: map[string]int64{}, Docs: int64(len(f.v.docs))}
	n := float64(len(f.v.docs))
	sc := map[int]float64{}
	for _, t := range q.Terms {
		p := f.v.post[t]
		res.DF[t] = int64(len(p))
		if q.Kinds[0] != skald.DocTurn {
			continue
		}
		idf := math.Log(1 + (n-float64(len(p))+0.5)/(float64(len(p))+0.5))
		for _, x := range p {
			sc[x.doc] += idf * float64(x.tf) * 2.2 / (float64(x.tf) + 1.2*(0.25+0.75*float64(f.v.docs[x.doc].Length)/(f.v.avg/n)))
		}
	}
	for d, s := range sc {
		res.Hits = append(res.Hits, skald.Hit{Doc: f.v.docs[d], Score: s})
	}
	sort.Slice(res.Hits, func(i, j int) bool {
		if res.Hits[i].Score != res.Hits[j].Score {
			return res.Hits[i].Score > res.Hits[j].Score
		}
		return res.Hits[i].Doc.ID < res.Hits[j].Doc.ID
	})
	if q.Limit > 0 && len(res.Hits) > q.Limit {
		res.Hits = res.Hits[:q.Limit]
	}
	return res, nil
}

func sample(set string) int {
	return map[string]int{"locomo-dev": 3, "beam100k-dev": 3}[set] + map[string]int{"zh-dev": 1, "paraphrase-dev": 1}[set]
}

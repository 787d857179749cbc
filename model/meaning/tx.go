package meaning

import (
	"context"
	"slices"

	"github.com/skald-engine/skald"
)

// tx is a transaction that embeds. Everything else passes through.
type tx struct {
	skald.Tx
	ctx   context.Context
	store *Store
	left  bool // documents were written that the model has yet to embed
}

func (t *tx) PutDocs(docs []skald.Doc) error {
	model := t.store.atOnce()
	t.left = t.left || !t.store.o.Model.Local() && len(docs) > 0
	if model == nil {
		return t.Tx.PutDocs(docs)
	}
	docs = slices.Clone(docs)
	if err := embed(t.ctx, model, docs); err != nil {
		return err
	}
	return t.Tx.PutDocs(docs)
}

// embed gives documents that have a text and no vector theirs.
func embed(ctx context.Context, model skald.Embedder, docs []skald.Doc) error {
	var at []int
	var texts []string
	for i, d := range docs {
		if d.Text != "" && d.Model == "" && d.Vector == nil {
			at, texts = append(at, i), append(texts, d.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := model.Passages(ctx, texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		docs[at[i]].Vector, docs[at[i]].Model = v, model.Name()
	}
	return nil
}

// Near embeds the text of a query. Until the model has embedded everything, the one that serves meanwhile finds what it alone knows.
func (t *tx) Near(q skald.NearQuery) (skald.NearResult, error) {
	if q.Text == "" || q.Vector != nil {
		return t.Tx.Near(q)
	}
	res, err := t.near(q, t.store.o.Model.Name(), t.store.queries.embed(t.ctx, q.Text, q.By))
	m := t.store.o.Meanwhile
	if err != nil || m == nil || !t.store.waiting.Load() {
		return res, err
	}
	v, err := m.Query(t.ctx, q.Text)
	if err != nil {
		return res, err
	}
	other, err := t.near(q, m.Name(), v)
	return merged(res, other, q.Limit), err
}

func (t *tx) near(q skald.NearQuery, model string, v []int8) (skald.NearResult, error) {
	q.Text, q.Model, q.Vector = "", model, v
	if len(v) == 0 {
		return skald.NearResult{}, nil
	}
	return t.Tx.Near(q)
}

// merged puts two answers of different models into one, on the scale of that which knows more: what counts is how far a hit stands out.
func merged(a, b skald.NearResult, limit int) skald.NearResult {
	if a.Docs < b.Docs {
		a, b = b, a
	}
	if b.Docs == 0 || b.Deviation == 0 {
		return a
	}
	a.Hits = slices.Clone(a.Hits)
	for _, h := range b.Hits {
		h.Score = a.Mean + (h.Score-b.Mean)/b.Deviation*a.Deviation
		a.Hits = append(a.Hits, h)
	}
	slices.SortStableFunc(a.Hits, byScore)
	if limit > 0 && len(a.Hits) > limit {
		a.Hits = a.Hits[:limit]
	}
	a.Docs += b.Docs
	return a
}

func byScore(a, b skald.Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return 0
}

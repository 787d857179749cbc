package sqlite

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/skald-engine/skald"
)

// defaultPostings is SearchQuery.MaxPostings when it is not set.
const defaultPostings = 4000

// Search reads whole postings lists, each as one value, and scores in Go: a row for every posting would cost more than the rest.
// The rarest terms come first; frequent ones that would go beyond MaxPostings are left out, or cut to the newest documents when
// even the rarest is too frequent.
func (t *tx) Search(q skald.SearchQuery) (skald.SearchResult, error) {
	if err := t.reading("store.search"); err != nil {
		return skald.SearchResult{}, err
	}
	s := &search{tx: t, q: q, terms: distinct(q.Terms), left: q.MaxPostings, scores: map[int64]float64{}}
	if s.left <= 0 {
		s.left = defaultPostings
	}
	return s.run()
}

// search is one search under way.
type search struct {
	*tx
	q      skald.SearchQuery
	terms  []string
	scopes []numbered
	df     [][]int64 // per term and scope
	result skald.SearchResult
	mean   float64 // length of a document
	left   int     // postings that may still be read
	// Documents of the asked kinds per scope. When they are the smaller part, the index leaves out the others (narrow), else
	// that is cheaper done with the few documents that are read in the end.
	ofKinds []int64
	narrow  bool
	scores  map[int64]float64
}

func (s *search) run() (skald.SearchResult, error) {
	steps := []func() error{s.settle, s.countDocs, s.countKinds, s.countTerms, s.collect, s.load}
	for _, step := range steps {
		if err := step(); err != nil {
			return skald.SearchResult{}, err
		}
	}
	return s.result, nil
}

// settle makes the transaction's own documents visible.
func (s *search) settle() error {
	if s.writer == nil {
		return nil
	}
	return s.fail("flush", s.writer.flush())
}

func (s *search) countDocs() (err error) {
	if s.scopes, err = s.known(s.q.Scopes); err != nil {
		return err
	}
	var length int64
	for _, scope := range s.scopes {
		var n, l int64
		if _, err := s.row("scope.count", `SELECT docs, length FROM scope WHERE id = ?`, scope.id)(&n, &l); err != nil {
			return err
		}
		s.result.Docs, length = s.result.Docs+n, length+l
	}
	s.mean = max(1, float64(length)/max(1, float64(s.result.Docs)))
	return nil
}

func (s *search) countKinds() error {
	if len(s.q.Kinds) == 0 {
		return nil
	}
	var sum int64
	for _, scope := range s.scopes {
		var n int64
		for _, kind := range slices.Compact(slices.Sorted(slices.Values(s.q.Kinds))) {
			f, err := s.frequency(kindToken(scope.id, kind))
			if err != nil {
				return err
			}
			n += f
		}
		s.ofKinds, sum = append(s.ofKinds, n), sum+n
	}
	s.narrow = sum*2 < s.result.Docs
	return nil
}

// countTerms fills in the document frequencies and puts the rarest term first.
func (s *search) countTerms() error {
	s.result.DF = map[string]int64{}
	perScope := map[string][]int64{}
	for _, term := range s.terms {
		s.result.DF[term] = 0
		for _, scope := range s.scopes {
			n, err := s.frequency(termToken(scope.id, term))
			if err != nil {
				return err
			}
			s.result.DF[term] += n
			perScope[term] = append(perScope[term], n)
		}
	}
	slices.SortStableFunc(s.terms, func(a, b string) int { return cmp.Compare(s.result.DF[a], s.result.DF[b]) })
	for _, term := range s.terms {
		s.df = append(s.df, perScope[term])
	}
	return nil
}

// frequency is how many documents hold the token. An update counts anew: its own documents are known to nobody else.
func (t *tx) frequency(token string) (n int64, err error) {
	if t.writer == nil {
		if n, ok := t.store.df.get(token); ok {
			return n, nil
		}
	}
	_, err = t.row("term.frequency", `SELECT doc FROM term_frequency WHERE term = ?`, text(token))(&n)
	if err == nil && t.writer == nil {
		t.store.df.put(token, n, t.generation)
	}
	return n, err
}

// collect scores the candidates.
func (s *search) collect() error {
	if s.q.All {
		return s.collectAll()
	}
	for i, term := range s.terms {
		if s.result.DF[term] == 0 {
			continue
		}
		want, err := s.postings(i)
		if err != nil {
			return err
		}
		if want > s.left && len(s.scores) > 0 {
			return nil // this one and those that follow are too frequent
		}
		for k, scope := range s.scopes {
			if s.df[i][k] == 0 {
				continue
			}
			if err := s.match(scope.id, quoted(termToken(scope.id, term)), s.idf(term), want); err != nil {
				return err
			}
		}
		s.left = max(s.left-want, 0)
	}
	return nil
}

// postings is how many postings the i-th term may yield, given the filters.
func (s *search) postings(i int) (sum int, err error) {
	for k, scope := range s.scopes {
		n := s.df[i][k]
		if s.q.Session != "" {
			m, err := s.frequency(sessionToken(scope.id, s.q.Session))
			if err != nil {
				return 0, err
			}
			n = min(n, m)
		}
		if s.narrow {
			n = min(n, s.ofKinds[k])
		}
		for _, term := range s.q.Must {
			m, err := s.frequency(termToken(scope.id, term))
			if err != nil {
				return 0, err
			}
			n = min(n, m)
		}
		sum += int(n)
	}
	return sum, nil
}

func (s *search) collectAll() error {
	if len(s.terms) == 0 || s.result.DF[s.terms[0]] == 0 {
		return nil
	}
	var idf float64
	for _, term := range s.terms {
		idf += s.idf(term)
	}
	for k, scope := range s.scopes {
		parts := make([]string, len(s.terms))
		for i, term := range s.terms {
			parts[i] = quoted(termToken(scope.id, term))
		}
		if s.df[0][k] == 0 {
			continue
		}
		if err := s.match(scope.id, strings.Join(parts, " AND "), idf, int(s.df[0][k])); err != nil {
			return err
		}
	}
	return nil
}

// match adds the weight of an expression to every document of the scope that fits it and the filters; to the newest of them
// when there may be more of them than postings are left. Walking backwards is slower, so it is done only then.
func (s *search) match(scope int64, expression string, idf float64, expected int) error {
	if s.q.Session != "" {
		expression = quoted(sessionToken(scope, s.q.Session)) + " AND " + expression
	}
	if s.narrow {
		var tokens []string
		for _, kind := range s.q.Kinds {
			tokens = append(tokens, quoted(kindToken(scope, kind)))
		}
		expression = "(" + strings.Join(tokens, " OR ") + ") AND " + expression
	}
	for _, term := range s.q.Must {
		expression = quoted(termToken(scope, term)) + " AND " + expression
	}
	const all = `SELECT group_concat(rowid) FROM term WHERE term MATCH ?`
	const newest = `SELECT group_concat(rowid) FROM (SELECT rowid FROM term WHERE term MATCH ? ORDER BY rowid DESC LIMIT ?)`
	var list string
	var err error
	if expected <= s.left {
		_, err = s.row("term.match", all, text(expression))(&list)
	} else {
		_, err = s.row("term.newest", newest, text(expression), s.left)(&list)
	}
	if err != nil {
		return err
	}
	for id := range strings.SplitSeq(list, ",") {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			s.scores[n] += idf * s.lengthWeight(n)
		}
	}
	return nil
}

func (s *search) idf(term string) float64 {
	df := float64(s.result.DF[term])
	return math.Log(1 + max(0, float64(s.result.Docs)-df+0.5)/(df+0.5))
}

// lengthWeight is BM25's (k1 = 1.2, b = 0.75) for a term that occurs once.
func (s *search) lengthWeight(id int64) float64 {
	return 2.2 / (1 + 1.2*(0.25+0.75*classLength(id)/s.mean))
}

// candidate is a document's id and score.
type candidate struct {
	id    int64
	score float64
}

// load reads the documents of the best candidates.
func (s *search) load() error {
	best := make([]candidate, 0, len(s.scores))
	for id, score := range s.scores {
		best = append(best, candidate{id, score})
	}
	slices.SortFunc(best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return s.read(best)
}

// read reads the documents of the candidates, which are in order, until there are enough that are asked for: more at once the longer it
// takes, since each reading costs.
func (s *search) read(best []candidate) error {
	for size := s.q.Limit; len(best) > 0 && (s.q.Limit <= 0 || len(s.result.Hits) < s.q.Limit); size *= 2 {
		some := limited(best, size)
		best = best[len(some):]
		if err := s.add(some); err != nil {
			return err
		}
	}
	s.result.Hits = limited(s.result.Hits, s.q.Limit)
	return nil
}

// add appends the hits that are of the asked kinds and admitted, with their documents.
func (s *search) add(best []candidate) error {
	docs, err := s.docs(best)
	if err != nil {
		return err
	}
	for _, c := range best {
		doc, ok := docs[c.id]
		if ok && (len(s.q.Kinds) == 0 || slices.Contains(s.q.Kinds, doc.Kind)) && (s.q.Admit == nil || s.q.Admit(doc)) {
			s.result.Hits = append(s.result.Hits, skald.Hit{Doc: doc, Score: c.score})
		}
	}
	return nil
}

// docs reads the rows of the candidates.
func (s *search) docs(best []candidate) (map[int64]skald.Doc, error) {
	ids := make([]int64, len(best))
	for i, c := range best {
		ids[i] = c.id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	scopes := map[int64]skald.Scope{}
	for _, n := range s.scopes {
		scopes[n.id] = n.scope
	}
	const query = `SELECT d.id, d.scope, d.kind, r.sid, d.seq, d.uri, d.start, d.stop, d.time, d.role, d.origin, d.audience, d.type,
		d.length FROM json_each(?) j JOIN doc d ON d.id = j.value LEFT JOIN ref r ON r.id = d.ref`
	docs := make(map[int64]skald.Doc, len(best))
	err = s.rows("doc.load", query, []any{text(list)}, func(row []driver.Value) error {
		d, scope, err := scanDoc(row)
		if owner, ok := scopes[scope]; ok { // the tokens see to that; a second belt (I9)
			d.Scope = owner
			docs[d.ID] = d
		}
		return err
	})
	return docs, err
}

func scanDoc(row []driver.Value) (d skald.Doc, scope int64, err error) {
	var kind, at, role, origin, audience, typ driver.Value
	var uri string
	err = scan(row, &d.ID, &scope, &kind, &d.Session, &d.Seq, &uri, &d.Start, &d.End, &at, &role, &origin, &audience, &typ, &d.Length)
	d.URI, d.Time, d.Kind = skald.URI(uri), fromMillis(at), skald.DocKind(kinds.word(kind))
	d.Role, d.Origin = skald.Role(roles.word(role)), skald.Origin(origins.word(origin))
	d.Audience, d.Type = skald.Audience(audiences.word(audience)), skald.MemoryType(types.word(typ))
	return d, scope, err
}

// distinct drops repeats and keeps the order.
func distinct(list []string) []string {
	var out []string
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

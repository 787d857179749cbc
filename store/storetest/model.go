package storetest

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/memory"
)

// compareWithModel runs random operations on the engine and on the memory store, now and then in a transaction that fails, with
// restarts in between, and compares every answer and at the end of each step all that can be read.
func compareWithModel(t *testing.T, open Open, reopen Reopen) {
	moderate(t)
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{t: t, r: r, engine: open(t), model: memory.New()}
		defer func() { _ = m.engine.Close() }()
		actions := map[string]func(*rapid.T){"": m.check, "update": m.update, "failing": m.failing}
		if reopen != nil {
			actions["reopen"] = func(*rapid.T) { m.engine = reopen(t, m.engine) }
		}
		r.Repeat(actions)
	})
}

// moderate lowers rapid's default of 100 runs, which takes minutes with the race detector; -rapid.checks overrides it.
func moderate(t *testing.T) {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if set {
		return
	}
	if err := flag.Set("rapid.checks", "15"); err != nil {
		t.Fatal(err)
	}
}

type machine struct {
	t             *testing.T
	r             *rapid.T
	engine, model skald.Store
}

// operation does one thing to a transaction and returns what it answered.
type operation func(skald.Tx) []any

func (m *machine) update(r *rapid.T) { m.both(r, m.operations(r), nil) }

func (m *machine) failing(r *rapid.T) { m.both(r, m.operations(r), errUndo) }

func (m *machine) operations(r *rapid.T) []operation {
	var ops []operation
	for range rapid.IntRange(1, 6).Draw(r, "operations") {
		kind := rapid.IntRange(0, len(kinds)-1).Draw(r, "kind")
		ops = append(ops, kinds[kind](r))
	}
	return ops
}

// both runs the operations on either store in one transaction each, and compares their answers.
func (m *machine) both(r *rapid.T, ops []operation, end error) {
	run := func(s skald.Store) (answers []any) {
		err := s.Update(m.t.Context(), func(tx skald.Tx) error {
			answers = nil
			for _, op := range ops {
				answers = append(answers, op(tx)...)
			}
			return end
		})
		if err != end {
			r.Fatalf("Update: %v", err)
		}
		return answers
	}
	want, got := run(m.model), run(m.engine)
	m.compare(r, "answers", got, want)
}

func (m *machine) check(r *rapid.T) {
	run := func(s skald.Store) (answers []any) {
		err := s.View(m.t.Context(), func(tx skald.Tx) error {
			st, err := readState(tx)
			answers = append(answers, sorted(st), err)
			for _, ref := range refs {
				list, err := tx.Turns(ref, skald.TurnQuery{Desc: true})
				answers = append(answers, list, err)
			}
			for _, words := range [][]string{{"a"}, {"b", "c"}, {"d", "東京"}} {
				answers = append(answers, searched(tx, skald.SearchQuery{Scopes: everyone, Terms: words})...)
			}
			return nil
		})
		if err != nil {
			r.Fatalf("View: %v", err)
		}
		return answers
	}
	want, got := run(m.model), run(m.engine)
	m.compare(r, "state", got, want)
}

// compare looks at the printed form, in which an empty list and none are the same, and takes the time for a difference only when
// there is one. Of an error the kind counts.
func (m *machine) compare(r *rapid.T, what string, got, want []any) {
	for _, list := range [][]any{got, want} {
		for i, v := range list {
			if err, ok := v.(error); ok {
				list[i] = skald.KindOf(err)
			}
		}
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		r.Fatalf("%s: -model +engine\n%s", what, cmp.Diff(want, got, cmpopts.EquateEmpty()))
	}
}

// sorted takes out what hangs on the engine: the order by score, and ids.
func sorted(st state) state {
	slices.SortFunc(st.Hits, func(a, b skald.Doc) int { return compareText(a, b) })
	for i := range st.Jobs { // which ids a store gives is its own business
		st.Jobs[i].ID = 0
	}
	return st
}

func compareText(a, b any) int {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

var refs = []skald.SessionRef{chat, {Scope: alice, ID: "s2"}, {Scope: bob, ID: chat.ID}, {Scope: agent, ID: "s2"}}

func drawRef(r *rapid.T) skald.SessionRef { return rapid.SampledFrom(refs).Draw(r, "session") }

func drawWords(r *rapid.T, least int) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"common", "a", "A", "b", "c", "d", "a b", "東京", "\xff", "_"}), least, 6).Draw(r, "terms")
}

func drawURI(r *rapid.T) skald.URI {
	return rapid.SampledFrom([]skald.URI{"viking://m/a.md", "viking://m/b/c.md", "viking://m/b.md"}).Draw(r, "uri")
}

func drawSeq(r *rapid.T) int64 { return rapid.Int64Range(0, 8).Draw(r, "seq") }

func drawTurn(r *rapid.T, seq int64) skald.Turn {
	t := turn(seq)
	t.Raw = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(r, "raw")
	t.EntryID = rapid.SampledFrom([]string{"", "e1", "e2", "e3"}).Draw(r, "entry")
	t.MatchKey = rapid.SampledFrom([]string{"", "aa", "AA", "aaaaaaaaaaaaaaaa01", "aaaaaaaaaaaaaaaa02", "zz"}).Draw(r, "match")
	t.Source = rapid.SampledFrom([]skald.Source{"", skald.SourceView, "new"}).Draw(r, "source")
	t.Role = rapid.SampledFrom([]skald.Role{"", skald.RoleUser, skald.RoleTool, "new"}).Draw(r, "role")
	t.Epoch = rapid.IntRange(1, 2).Draw(r, "epoch")
	t.Forgotten = rapid.Bool().Draw(r, "forgotten")
	return t
}

// searched is the comparable part of a search: which documents, and the counts.
func searched(tx skald.Tx, q skald.SearchQuery) []any {
	res, err := tx.Search(q)
	var docs []string
	for _, h := range res.Hits {
		d := h.Doc
		d.ID = 0
		docs = append(docs, fmt.Sprintf("%+v", d))
	}
	slices.Sort(docs)
	return []any{docs, res.Docs, res.DF, err}
}

// kinds draws one operation of each kind.
var kinds = []func(*rapid.T) operation{
	func(r *rapid.T) operation {
		ref, n, shift := drawRef(r), rapid.IntRange(0, 3).Draw(r, "turns"), rapid.SampledFrom([]int64{0, 0, 0, 1, -1}).Draw(r, "shift")
		var list []skald.Turn
		for i := range n {
			list = append(list, drawTurn(r, int64(i)))
		}
		return func(tx skald.Tx) []any {
			_, last, err := tx.LastLink(ref)
			put := slices.Clone(list)
			for i := range put {
				put[i].Seq = last + 1 + int64(i) + shift
			}
			return []any{last, err, tx.AppendTurns(ref, put)}
		}
	},
	func(r *rapid.T) operation {
		ref, t := drawRef(r), drawTurn(r, drawSeq(r))
		t.Purged = rapid.Bool().Draw(r, "purged")
		return func(tx skald.Tx) []any { return []any{tx.UpdateTurn(ref, t)} }
	},
	func(r *rapid.T) operation {
		ref, t := drawRef(r), drawTurn(r, drawSeq(r))
		return func(tx skald.Tx) []any { return []any{tx.ReplaceRaw(ref, t)} }
	},
	func(r *rapid.T) operation {
		ref := drawRef(r)
		q := skald.TurnQuery{From: drawSeq(r), To: drawSeq(r), Epoch: rapid.IntRange(0, 2).Draw(r, "epoch"), Desc: rapid.Bool().Draw(r, "desc"),
			Limit: rapid.IntRange(0, 3).Draw(r, "limit"), NoRaw: rapid.Bool().Draw(r, "noraw"),
			EntryIDs:  rapid.SliceOfN(rapid.SampledFrom([]string{"", "e1", "e2", "x"}), 0, 2).Draw(r, "entries"),
			MatchKeys: rapid.SliceOfN(rapid.SampledFrom([]string{"", "aa", "aaaaaaaaaaaaaaaa01", "zz"}), 0, 2).Draw(r, "matches")}
		if rapid.Bool().Draw(r, "by source") {
			source := rapid.SampledFrom([]skald.Source{"", skald.SourceView, "new"}).Draw(r, "source")
			q.Source = &source
		}
		return func(tx skald.Tx) []any { list, err := tx.Turns(ref, q); return []any{list, err} }
	},
	func(r *rapid.T) operation {
		s := session(drawRef(r), rapid.IntRange(0, 3).Draw(r, "minute"))
		s.OpenFrom = rapid.Int64Range(0, 5).Draw(r, "open from")
		return func(tx skald.Tx) []any { return []any{tx.PutSession(s)} }
	},
	func(r *rapid.T) operation {
		q := skald.SessionQuery{Scopes: drawScopes(r), Open: rapid.Bool().Draw(r, "open"), Limit: rapid.IntRange(0, 2).Draw(r, "limit")}
		return func(tx skald.Tx) []any { list, err := tx.Sessions(q); return []any{list, err} }
	},
	func(r *rapid.T) operation {
		ref, n := drawRef(r), drawSeq(r)
		return func(tx skald.Tx) []any {
			return []any{tx.PutTurnKey(ref, "key", skald.TurnRange{StartSequence: n}), tx.PutRecall(ref, recall(n)), tx.PutDeadLetter(deadLetter(ref, fmt.Sprint(n)))}
		}
	},
	func(r *rapid.T) operation {
		ref, n := drawRef(r), int(drawSeq(r))
		return func(tx skald.Tx) []any {
			return []any{tx.PutArchive(archive(ref, n)), tx.PutCheckpoint(ref, checkpoint(fmt.Sprint(n))), tx.PutTrace(ref, trace(n))}
		}
	},
	func(r *rapid.T) operation {
		m := drawMemory(r)
		return func(tx skald.Tx) []any { return []any{tx.PutMemory(m)} }
	},
	func(r *rapid.T) operation {
		scope, uri := rapid.SampledFrom(everyone).Draw(r, "scope"), drawURI(r)
		return func(tx skald.Tx) []any { return []any{tx.DeleteMemory(scope, uri), tx.DeleteURIDocs(scope, uri)} }
	},
	func(r *rapid.T) operation {
		q := skald.MemoryQuery{Scopes: drawScopes(r), Current: rapid.Bool().Draw(r, "current"), From: drawSeq(r), To: drawSeq(r), Limit: rapid.IntRange(0, 2).Draw(r, "limit"),
			Prefix: rapid.SampledFrom([]skald.URI{"", "viking://m", "viking://m/b/"}).Draw(r, "prefix"),
			After:  rapid.SampledFrom([]skald.URI{"", "viking://m/a", "viking://m/b0"}).Draw(r, "after")}
		if rapid.Bool().Draw(r, "by source") {
			ref := drawRef(r)
			q.Source = &ref
		}
		return func(tx skald.Tx) []any { list, err := tx.Memories(q); return []any{list, err} }
	},
	func(r *rapid.T) operation {
		ref := drawRef(r)
		return func(tx skald.Tx) []any { return []any{tx.DeleteSession(ref)} }
	},
	func(r *rapid.T) operation {
		scope, uri, id := rapid.SampledFrom(everyone).Draw(r, "scope"), drawURI(r), fmt.Sprint(drawSeq(r))
		return func(tx skald.Tx) []any {
			return []any{tx.PutFile(file(scope, uri)), tx.PutRecord(newRecord(scope, id, string(uri)))}
		}
	},
	func(r *rapid.T) operation {
		scope, uri, id := rapid.SampledFrom(everyone).Draw(r, "scope"), rapid.SampledFrom([]skald.URI{"viking://m", "viking://m/b"}).Draw(r, "folder"), fmt.Sprint(drawSeq(r))
		return func(tx skald.Tx) []any {
			n, err := tx.DeleteFiles(scope, uri)
			return []any{n, err, tx.DeleteRecord(scope, "watch", id)}
		}
	},
	func(r *rapid.T) operation {
		q := skald.FileQuery{Scopes: drawScopes(r), Under: rapid.SampledFrom([]skald.URI{"", "viking://m", "viking://m/b"}).Draw(r, "under"), Limit: rapid.IntRange(0, 2).Draw(r, "limit")}
		return func(tx skald.Tx) []any { list, err := tx.Files(q); return []any{list, err} }
	},
	func(r *rapid.T) operation {
		ref, uri, seq := drawRef(r), drawURI(r), drawSeq(r)
		docs := []skald.Doc{turnDoc(ref, seq, drawWords(r, 0)...), archiveDoc(ref, int(seq), drawWords(r, 0)...), memoryDoc(ref.Scope, uri, drawWords(r, 0)...)}
		return func(tx skald.Tx) []any { return []any{tx.PutDocs(docs)} }
	},
	func(r *rapid.T) operation {
		ref, from, to := drawRef(r), drawSeq(r), drawSeq(r)
		return func(tx skald.Tx) []any {
			return []any{tx.DeleteTurnDocs(ref, from, to), tx.DeleteArchiveDocs(ref, int(from))}
		}
	},
	func(r *rapid.T) operation {
		q := skald.SearchQuery{Scopes: drawScopes(r), Terms: drawWords(r, 0), All: rapid.Bool().Draw(r, "all"),
			Session: rapid.SampledFrom([]string{"", chat.ID, "s2"}).Draw(r, "session"),
			Kinds:   rapid.SliceOfN(rapid.SampledFrom([]skald.DocKind{skald.DocTurn, skald.DocMemory, skald.DocSkill}), 0, 2).Draw(r, "kinds")}
		return func(tx skald.Tx) []any { return searched(tx, q) }
	},
	func(r *rapid.T) operation {
		j := job(rapid.SampledFrom([]string{"j1", "j2", "j3"}).Draw(r, "job"), drawRef(r), rapid.IntRange(0, 9).Draw(r, "minute"))
		j.State = rapid.SampledFrom([]skald.JobState{skald.JobReady, skald.JobReady, skald.JobDone}).Draw(r, "state")
		return func(tx skald.Tx) []any { return []any{tx.PutJob(j)} }
	},
	func(r *rapid.T) operation {
		minute := rapid.IntRange(0, 20).Draw(r, "now")
		return func(tx skald.Tx) []any {
			j, ok, err := tx.ClaimJob(at(minute), 5*time.Minute)
			j.ID = 0
			return []any{j, ok, err}
		}
	},
	func(r *rapid.T) operation {
		scopes := drawScopes(r)
		return func(tx skald.Tx) []any {
			list, err := tx.Jobs(scopes, 0)
			var keys []string
			for _, j := range list {
				keys = append(keys, j.Key)
			}
			if len(list) > 2 {
				return []any{keys, err, tx.DeleteJob(list[0].ID)}
			}
			return []any{keys, err}
		}
	},
}

func drawScopes(r *rapid.T) []skald.Scope {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(everyone), 0, 3, func(s skald.Scope) skald.Scope { return s }).Draw(r, "scopes")
}

func drawMemory(r *rapid.T) skald.Memory {
	m := newMemory(rapid.SampledFrom(everyone).Draw(r, "scope"), drawURI(r))
	if rapid.Bool().Draw(r, "superseded") {
		m.Superseded = "viking://m/new.md"
	}
	from := drawSeq(r)
	m.Sources = []skald.MemorySource{{Session: drawRef(r), From: from, To: from + drawSeq(r)}}
	return m
}

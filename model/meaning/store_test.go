package meaning_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/static"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/store/storetest"
)

var (
	ann  = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "ann"}
	chat = skald.SessionRef{Scope: ann, ID: "0b9d1f52-5d0e-4f53-9f3a-111111111111"}
)

// The store that embeds is a store.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) skald.Store { return meaning.New(memory.New(), meaning.Options{Model: static.Table{}}) }, nil)
}

// tell stores what was said from a sequence on.
func tell(t *testing.T, s skald.Store, from int64, said ...string) {
	t.Helper()
	var turns []skald.Turn
	var docs []skald.Doc
	for i, text := range said {
		turn := skald.Turn{Seq: from + int64(i), Epoch: 1, Time: time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC), Role: skald.RoleUser,
			Origin: skald.OriginOwner, Audience: skald.AudienceDirect, Raw: message.User(text, 1)}
		m, err := message.Parse(turn.Raw)
		if err != nil {
			t.Fatal(err)
		}
		turns, docs = append(turns, turn), append(docs, index.DocsOfTurn(chat, turn, m)...)
	}
	update(t, s, func(tx skald.Tx) error {
		if err := tx.AppendTurns(chat, turns); err != nil {
			return err
		}
		return tx.PutDocs(docs)
	})
}

func update(t *testing.T, s skald.Store, fn func(skald.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// nearest lists the sequences of what means the same, the nearest first.
func nearest(t *testing.T, s skald.Store, text string, limit int) (seqs []int64) {
	t.Helper()
	err := s.View(t.Context(), func(tx skald.Tx) error {
		res, err := tx.Near(skald.NearQuery{Scopes: []skald.Scope{ann}, Text: text, Limit: limit})
		for _, h := range res.Hits {
			seqs = append(seqs, h.Doc.Seq)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seqs
}

func waiting(t *testing.T, s skald.Store) skald.MeaningHealth {
	t.Helper()
	h, err := s.Health(t.Context())
	if err != nil || h.Meaning == nil {
		t.Fatal(err, h.Meaning)
	}
	return *h.Meaning
}

// running runs the background until the test's end; the returned function ends it before.
func running(t *testing.T, s *meaning.Store) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
		time.Sleep(time.Millisecond)
	}
}

var said = []string{"The invoice is due on Friday.", "We took in a little dog last spring.", "12345", "The soup needs more salt."}

func TestWrittenDocumentsAreEmbedded(t *testing.T) {
	t.Parallel()
	s := meaning.New(memory.New(), meaning.Options{Model: static.Table{}})
	tell(t, s, 1, said...)
	if got := nearest(t, s, "what pets does she own", 1); !slices.Equal(got, []int64{2}) {
		t.Errorf("nearest %v", got)
	}
	if h := waiting(t, s); h != (skald.MeaningHealth{Model: static.Table{}.Name(), Docs: 4}) {
		t.Errorf("%+v", h)
	}
}

// counting is a model that counts what it embedded, and calls before with the number of each batch.
type counting struct {
	static.Table
	name   string
	local  bool
	before func(batch int64) error
	calls  atomic.Int64
	texts  atomic.Int64
}

func (c *counting) Name() string { return c.name }
func (c *counting) Local() bool  { return c.local }

func (c *counting) Passages(ctx context.Context, texts []string) ([][]int8, error) {
	if err := c.before(c.calls.Add(1)); err != nil {
		return nil, err
	}
	c.texts.Add(int64(len(texts)))
	return c.Table.Passages(ctx, texts)
}

func nothing(int64) error { return nil }

func open(t *testing.T, dir string) skald.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A store that was written without vectors is embedded in the background; a run that ends half-way is gone on with by the next process, and
// nothing is embedded twice.
func TestOlderStoreAndRestart(t *testing.T) {
	t.Parallel()
	const turns = 900
	dir := t.TempDir()
	old := open(t, dir)
	var list []string
	for i := range turns {
		list = append(list, fmt.Sprintf("%s Number %d.", said[i%2], i))
	}
	tell(t, old, 1, list...)
	if got := nearest(t, old, "pets", 1); got != nil {
		t.Errorf("found without vectors: %v", got)
	}
	model := &counting{name: "x", local: true}
	var killed atomic.Bool
	model.before = func(n int64) error {
		if n == 2 {
			killed.Store(true)
			return errors.New("killed")
		}
		return nil
	}
	first := meaning.New(old, meaning.Options{Model: model, Pause: time.Hour})
	stop := running(t, first)
	eventually(t, "one batch", killed.Load)
	stop()
	half := waiting(t, first)
	if half.Waiting == 0 || half.Waiting >= turns {
		t.Errorf("half-way %+v", half)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	again := open(t, dir)
	defer again.Close()
	rest := &counting{name: "x", local: true, before: nothing}
	second := meaning.New(again, meaning.Options{Model: rest})
	tell(t, second, turns+1, "My puppy chewed the sofa.")
	running(t, second)
	eventually(t, "all embedded", func() bool { return waiting(t, second).Waiting == 0 })
	if n := rest.texts.Load(); n != half.Waiting+1 {
		t.Errorf("%d texts embedded, %d waited and one was written", n, half.Waiting)
	}
	if got := nearest(t, second, "what pets does she own", 1); len(got) == 0 || got[0]%2 != 0 && got[0] != turns+1 {
		t.Errorf("nearest %v", got)
	}
}

// Another model: what is of the former one is embedded anew, and every kind of document has its text found again.
func TestAnotherModel(t *testing.T) {
	t.Parallel()
	inner := memory.New()
	first := meaning.New(inner, meaning.Options{Model: &counting{name: "one", local: true, before: nothing}})
	tell(t, first, 1, said...)
	a := skald.Archive{Session: chat, Index: 1, Overview: []skald.Section{{Title: "Facts", Lines: []skald.Line{{Text: "The cat sleeps.", Speaker: "ann"}}}}}
	m := skald.Memory{URI: "viking://user/ann/memories/a", Scope: ann, Text: "She keeps a parrot."}
	res := skald.Scope{Account: "acme", Kind: skald.ScopeResources}
	f := skald.File{Scope: res, URI: "viking://resources/birds.md", Body: []byte("Feed the canary.")}
	update(t, first, func(tx skald.Tx) error {
		err := errors.Join(tx.PutArchive(a), tx.PutMemory(m), tx.PutFile(f), tx.PutDocs(index.DocsOfArchive(a, skald.AudienceDirect)),
			tx.PutDocs(index.DocsOfMemory(m)))
		return errors.Join(err, tx.PutDocs(index.DocsOfText(skald.Doc{Scope: res, Kind: skald.DocResource, URI: f.URI}, string(f.Body))))
	})
	model := &counting{name: "two", local: true, before: nothing}
	second := meaning.New(inner, meaning.Options{Model: model})
	if h := waiting(t, second); h.Waiting != 7 {
		t.Errorf("%+v", h)
	}
	running(t, second)
	eventually(t, "all embedded", func() bool { return waiting(t, second).Waiting == 0 })
	if n := model.texts.Load(); n != 7 {
		t.Errorf("%d texts were found again, 7 expected", n)
	}
	if got := nearest(t, second, "what pets does she own", 0); len(got) != 5 { // all of the user's but the number
		t.Errorf("nearest %v", got)
	}
}

// While a model behind a network has not embedded everything, the local one serves; then the other alone.
func TestLocalModelServesMeanwhile(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	remote := &counting{name: "far", before: func(int64) error { <-gate; return nil }}
	s := meaning.New(memory.New(), meaning.Options{Model: remote, Meanwhile: static.Table{}})
	tell(t, s, 1, said...)
	running(t, s)
	eventually(t, "the model is asked", func() bool { return remote.calls.Load() > 0 })
	if got := nearest(t, s, "what pets does she own", 1); !slices.Equal(got, []int64{2}) {
		t.Errorf("meanwhile %v", got)
	}
	tell(t, s, 5, "My puppy chewed the sofa.")
	if h := waiting(t, s); h.Waiting != 5 {
		t.Errorf("%+v", h)
	}
	close(gate)
	eventually(t, "all embedded", func() bool { return waiting(t, s).Waiting == 0 })
	if got := nearest(t, s, "what pets does she own", 2); len(got) != 2 || got[0]+got[1] != 7 {
		t.Errorf("then %v", got)
	}
}

// A model that fails is asked again, and its error is told until then.
func TestFailureIsToldAndRepeated(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	remote := &counting{name: "far", before: func(n int64) error {
		if n == 1 {
			return errors.New("no answer")
		}
		<-gate
		return nil
	}}
	s := meaning.New(memory.New(), meaning.Options{Model: remote, Pause: time.Millisecond})
	tell(t, s, 1, said...)
	running(t, s)
	eventually(t, "a second try", func() bool { return remote.calls.Load() > 1 })
	if h := waiting(t, s); h.Error != "no answer" || h.Waiting != 4 {
		t.Errorf("%+v", h)
	}
	close(gate)
	eventually(t, "all embedded", func() bool { h := waiting(t, s); return h.Waiting == 0 && h.Error == "" })
}

// slow is a model behind a network whose queries take until released.
type slow struct {
	counting
	release chan struct{}
	asked   atomic.Int64
}

func (s *slow) Query(ctx context.Context, text string) ([]int8, error) {
	s.asked.Add(1)
	<-s.release
	return s.counting.Query(ctx, text)
}

// A query whose vector is late is answered by nothing; the vector serves the next one.
func TestLateQuery(t *testing.T) {
	t.Parallel()
	model := &slow{counting: counting{name: "far", before: nothing}, release: make(chan struct{})}
	s := meaning.New(memory.New(), meaning.Options{Model: model})
	tell(t, s, 1, said...)
	running(t, s)
	eventually(t, "all embedded", func() bool { return waiting(t, s).Waiting == 0 })
	for range 2 {
		err := s.View(t.Context(), func(tx skald.Tx) error {
			res, err := tx.Near(skald.NearQuery{Scopes: []skald.Scope{ann}, Text: "pets", By: time.Now().Add(-time.Second)})
			if len(res.Hits) > 0 || res.Docs > 0 {
				t.Errorf("%+v", res)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(model.release)
	if got := nearest(t, s, "pets", 1); !slices.Equal(got, []int64{2}) {
		t.Errorf("nearest %v", got)
	}
	if n := model.asked.Load(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

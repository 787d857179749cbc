package memory_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/message"
	store "github.com/skald-engine/skald/store/memory"
)

// TestForgetLeavesNothing forgets one statement of a committed session and looks for it everywhere, also after the archive's
// phase 2 ran again.
func TestForgetLeavesNothing(t *testing.T) {
	ctx := context.Background()
	s := store.New()
	defer s.Close()
	do := func(fn func(skald.Tx) error) {
		t.Helper()
		if err := s.Update(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	texts := []struct{ role, text string }{
		{"user", "I prefer the zebra wallpaper."}, {"assistant", "Noted: zebra wallpaper it is."},
		{"user", "My name is Ada Berg."}, {"assistant", "Hello Ada."},
	}
	do(func(tx skald.Tx) error {
		sess := skald.Session{Ref: ref, Agent: "main", Audience: skald.AudienceDirect, Epoch: 1, EpochFrom: 1, OpenFrom: 1, LastSeq: 4, Created: monday}
		if err := tx.PutSession(sess); err != nil {
			return err
		}
		for i, x := range texts {
			raw, _ := json.Marshal(map[string]any{"role": x.role, "content": x.text})
			turn := skald.Turn{Seq: int64(i + 1), Epoch: 1, Time: monday, Role: skald.Role(x.role), Raw: raw, Audience: skald.AudienceDirect, Position: -1, Origin: skald.OriginOwner}
			if x.role == "assistant" {
				turn.Origin = skald.OriginAgent
			}
			if err := tx.AppendTurns(ref, []skald.Turn{turn}); err != nil {
				return err
			}
			m, err := message.Parse(raw)
			if err != nil {
				return err
			}
			if err := tx.PutDocs(index.DocsOfTurn(ref, turn, m)); err != nil {
				return err
			}
		}
		_, _, err := archive.Close(tx, &sess, "compact", monday)
		return err
	})
	r := archive.New(s, nil, memory.Builtin{}, nil, nil)
	if _, err := r.RunOne(ctx); err != nil {
		t.Fatal(err)
	}
	if findable(t, s, "zebra") == "" {
		t.Fatal("the statement was never there")
	}
	var uri skald.URI
	for _, m := range all(t, s) {
		if strings.Contains(m.Text, "zebra") {
			uri = m.URI
		}
	}
	var receipt memory.Receipt
	do(func(tx skald.Tx) (err error) {
		receipt, err = memory.Forget(tx, []skald.Scope{scopes.User, scopes.Agent}, uri)
		return err
	})
	if len(receipt.Memories) != 1 || len(receipt.Turns) != 2 || len(receipt.Archives) != 1 || len(receipt.Sessions) != 1 {
		t.Errorf("receipt %+v", receipt)
	}
	do(func(tx skald.Tx) error { return archive.Redo(tx, ref, 1, monday) })
	do(func(tx skald.Tx) error {
		a, err := tx.Archive(ref, 1)
		a.Steps = nil
		if err == nil {
			err = tx.PutArchive(a)
		}
		return err
	})
	if _, err := r.RunOne(ctx); err != nil {
		t.Fatal(err)
	}
	if found := findable(t, s, "zebra"); found != "" {
		t.Errorf("still found in %s", found)
	}
	if found := findable(t, s, "berg"); found == "" {
		t.Error("the name is gone too")
	}
	do(func(tx skald.Tx) error {
		if _, err := memory.Forget(tx, []skald.Scope{scopes.User}, uri); skald.KindOf(err) != skald.KindNotFound {
			t.Errorf("forgotten twice: %v", err)
		}
		turns, err := tx.Turns(ref, skald.TurnQuery{})
		if len(turns) != 4 || len(turns[0].Raw) == 0 {
			t.Error("a turn was deleted")
		}
		return err
	})
}

// findable says where a word is found: index, memories, archives, checkpoints; "" nowhere.
func findable(t *testing.T, s skald.Store, word string) (where string) {
	t.Helper()
	err := s.View(context.Background(), func(tx skald.Tx) error {
		res, err := tx.Search(skald.SearchQuery{Scopes: []skald.Scope{scopes.User, scopes.Agent}, Terms: analyze.Terms(word), Limit: 10})
		if err != nil {
			return err
		}
		for _, h := range res.Hits {
			where += " index:" + string(h.Doc.Kind)
		}
		memories, err := tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scopes.User, scopes.Agent}})
		if err != nil {
			return err
		}
		archives, err := tx.Archives(ref, 1)
		if err != nil {
			return err
		}
		points, err := tx.Checkpoints(ref)
		for name, v := range map[string]any{"memories": memories, "archives": archives, "checkpoints": points} {
			if raw, _ := json.Marshal(v); strings.Contains(strings.ToLower(string(raw)), word) {
				where += " " + name
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return where
}

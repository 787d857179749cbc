package recall

import (
	"context"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/static"
	"github.com/skald-engine/skald/store/memory"
)

var (
	meaningOwner    = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "ann"}
	meaningStranger = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "ben"}
)

// meaningful is an empty store that embeds.
func meaningful() skald.Store {
	return meaning.New(memory.New(), meaning.Options{Model: static.Table{}})
}

// told stores what was said, one turn each, in a session of a scope.
func told(t *testing.T, s skald.Store, scope skald.Scope, audience skald.Audience, said ...string) {
	t.Helper()
	ref := skald.SessionRef{Scope: scope, ID: "0b9d1f52-5d0e-4f53-9f3a-111111111111"}
	var turns []skald.Turn
	var docs []skald.Doc
	for i, text := range said {
		turn := skald.Turn{Seq: int64(i + 1), Epoch: 1, Time: time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC), Role: skald.RoleUser,
			Origin: skald.OriginOwner, Audience: audience, Raw: message.User(text, 1)}
		m, err := message.Parse(turn.Raw)
		if err != nil {
			t.Fatal(err)
		}
		turns, docs = append(turns, turn), append(docs, index.DocsOfTurn(ref, turn, m)...)
	}
	err := s.Update(t.Context(), func(tx skald.Tx) error {
		if err := tx.PutSession(skald.Session{Ref: ref, LastSeq: int64(len(turns))}); err != nil {
			return err
		}
		if err := tx.AppendTurns(ref, turns); err != nil {
			return err
		}
		return tx.PutDocs(docs)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var smallTalk = []string{"The invoice is due on Friday.", "Let's meet at the station at nine.", "The soup needs more salt.",
	"My train was late again.", "The printer in the office is broken.", "We watched a film about the sea.", "Her sister studies law.",
	"发票星期五到期。", "会议改到星期三下午。", "周末去爬山吧。"}

// meant runs the stages up to smoothing, with meaning.
func meant(t *testing.T, s skald.Store, query string, audience skald.Audience) []*candidate {
	t.Helper()
	var out []*candidate
	err := s.View(t.Context(), func(tx skald.Tx) error {
		c := &course{ctx: context.Background(), tx: tx, r: Request{Query: query, Scopes: []skald.Scope{meaningOwner}, Owner: true,
			Audience: audience}.withDefaults()}
		c.plan()
		c.mean()
		if err := c.search(); err != nil {
			return err
		}
		c.load()
		c.rank()
		c.smooth()
		out = c.kept()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMeaningFindsOtherWords(t *testing.T) {
	t.Parallel()
	for query, said := range map[string]string{
		"what pets does she own": "We took in a little dog last spring.",
		"how was he injured":     "I broke my wrist falling off a ladder.",
		"她养了什么宠物":                "我们去年领养了一只小狗。",
	} {
		s := meaningful()
		told(t, s, meaningOwner, skald.AudienceDirect, append(append([]string{}, smallTalk...), said)...)
		got := meant(t, s, query, skald.AudienceDirect)
		if len(got) == 0 || got[0].text != said || got[0].parts["meaning"] <= 0 {
			t.Errorf("%q: %d candidates, first %+v", query, len(got), got)
		}
	}
}

// What means the same stays where it may be seen (I9).
func TestMeaningStaysInItsScopeAndAudience(t *testing.T) {
	t.Parallel()
	said := append([]string{"We took in a little dog last spring."}, smallTalk...)
	const query, group = "what pets does she own", skald.Audience("group:team")
	other, own := meaningful(), meaningful()
	told(t, other, meaningStranger, skald.AudienceDirect, said...)
	told(t, own, meaningOwner, skald.AudienceDirect, said...)
	for _, k := range meant(t, other, query, skald.AudienceDirect) {
		t.Errorf("another user's: %q", k.text)
	}
	for _, k := range meant(t, own, query, group) {
		t.Errorf("said in private, shown in a group: %q", k.text)
	}
}

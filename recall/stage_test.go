package recall_test

import (
	"context"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/static"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/store/memory"
)

// stageWorld is one in which every stage has something to do.
func stageWorld(t *testing.T) *world {
	w := &world{t, meaning.New(memory.New(), meaning.Options{Model: static.Table{}}), map[string]int64{}}
	w.chatter("x", 12)
	w.say("s", skald.RoleUser, "The build server wants node 18.20.4 and nothing else")
	w.say("s", skald.RoleAssistant, "Then the build server gets it.")
	w.say("s", skald.RoleUser, "We took in a little dog last spring.")
	w.remember(skald.Memory{URI: "old", Type: skald.MemoryEntity, Text: "the build server wants node 16", Updated: now.AddDate(0, -1, 0),
		Superseded: "viking://user/default/memories/entities/new.md"})
	return w
}

func (w *world) recallWithout(query string, stages ...recall.Stage) recall.Result {
	w.t.Helper()
	var res recall.Result
	err := w.store.View(context.Background(), func(tx skald.Tx) (err error) {
		res, err = recall.Recall(recall.Without(context.Background(), stages...), tx, recall.Request{Query: query, Threshold: 0.001,
			Scopes: []skald.Scope{userScope}, Owner: true, Audience: skald.AudienceDirect, Session: sessionRef("new"), Now: now})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

// leaves reports whether a stage has left its score with a candidate.
func leaves(res recall.Result, s recall.Stage) bool {
	for _, list := range [][]skald.RecallCandidate{res.Trace.Items, res.Trace.Dropped} {
		for _, c := range list {
			if _, ok := c.Parts[string(s)]; ok || s == recall.StageNotes && c.Kind == skald.DocMemory {
				return true
			}
		}
	}
	return false
}

// A stage that is left out leaves no score, and one that works does: what the ablation measures is what it says.
func TestWithout(t *testing.T) {
	t.Parallel()
	w := stageWorld(t)
	for _, s := range []recall.Stage{recall.StageMeaning, recall.StageNotes, recall.StageExact, recall.StagePhrase, recall.StageRole,
		recall.StageType, recall.StageAge, recall.StageNear, recall.StageSuperseded} {
		query := "which pets live beside the build server with node 18.20.4?"
		if s == recall.StageMeaning {
			query = "what pets does she own" // beside an identifier that is found, meaning says nothing
		}
		if !leaves(w.recallWithout(query), s) {
			t.Errorf("%s: no score of it in a whole recall", s)
		}
		if leaves(w.recallWithout(query, s), s) {
			t.Errorf("%s: left out, and a score of it", s)
		}
	}
}

func TestParseStage(t *testing.T) {
	t.Parallel()
	for _, s := range recall.Stages() {
		if got, err := recall.ParseStage(" " + string(s)); got != s || err != nil {
			t.Errorf("%s: %q, %v", s, got, err)
		}
	}
	if _, err := recall.ParseStage("luck"); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("luck: %v", err)
	}
}

// Without the window a prompt that points back finds nothing of what it points at.
func TestWithoutWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.chatter("x", 30)
	w.say("s", skald.RoleUser, "The aardvark weighs sixty kilos")
	for _, stages := range [][]recall.Stage{nil, {recall.StageWindow}} {
		var res recall.Result
		err := w.store.View(context.Background(), func(tx skald.Tx) (err error) {
			res, err = recall.Recall(recall.Without(context.Background(), stages...), tx, recall.Request{Query: "and how heavy is it?",
				Window: []string{"tell me about the aardvark"}, Scopes: []skald.Scope{userScope}, Owner: true, Audience: skald.AudienceDirect,
				Session: sessionRef("new"), Now: now.Add(time.Hour)})
			return err
		})
		if err != nil || (len(res.Items) > 0) == (len(stages) > 0) {
			t.Errorf("without %v: %q, %v", stages, texts(res), err)
		}
	}
}

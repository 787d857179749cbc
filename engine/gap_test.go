package engine_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/skald-engine/skald"
)

// A reset that happened while the engine was away is told by the transcript's entries: what follows it is a new epoch, and the next
// assemble under that lifecycle starts no further one.
func TestResetInsideAGap(t *testing.T) {
	h := newHost(t)
	ctx := context.Background()
	entry := func(id string, position int64, reset bool, text string) skald.Entry {
		return skald.Entry{EntryID: id, Position: &position, Reset: reset, Message: h.user(text)}
	}
	deliver := func(entries ...skald.Entry) {
		t.Helper()
		_, err := h.e.Reconcile(ctx, skald.ReconcileRequest{Request: h.request(), Entries: entries})
		h.must(err)
	}
	first := entry("e1", 0, false, "one")
	deliver(first)
	h.req.Session.Lifecycle = "r1"
	second, third := entry("e2", 1, false, "two"), entry("e3", 2, true, "three")
	deliver(first, second, third)
	deliver(first, second, third) // the same again
	h.list = append(h.list, third.Message)
	h.assemble("four")
	turns, err := h.e.ListTurns(ctx, skald.DefaultIdentity, "agent:main:main", 0, 0)
	h.must(err)
	for i, want := range []int{1, 1, 2} {
		if len(turns) != 3 || turns[i].Epoch != want {
			t.Fatalf("turns: %+v", turns)
		}
	}
	b, err := h.e.Bootstrap(ctx, skald.BootstrapRequest{Request: h.request()})
	h.must(err)
	if b.Epoch != 2 || b.Lifecycle != "r1" {
		t.Errorf("bootstrap: %+v", b)
	}
}

// OpenClaw announces a child by its key alone, and names the parent by its key alone; both have ids of their own when they speak.
func TestChildAnnouncedByKey(t *testing.T) {
	h := newHost(t)
	ctx := context.Background()
	const parentID, childID, childKey = "3f0e6a52-3d0b-4c62-9a43-0d2d35f2a001", "3f0e6a52-3d0b-4c62-9a43-0d2d35f2a002", "agent:main:subagent:kid"
	say := func(id, key, text string) {
		t.Helper()
		r := h.request()
		r.Session = skald.SessionAddress{SessionID: id, SessionKey: key}
		_, err := h.e.Reconcile(ctx, skald.ReconcileRequest{Request: r, Entries: []skald.Entry{{EntryID: text, Message: h.user(text)}}})
		h.must(err)
	}
	say(parentID, "agent:main:parent", "please count the herons")
	spawn := skald.SubagentRequest{Request: h.request(), ChildKey: childKey}
	spawn.Session = skald.SessionAddress{SessionKey: "agent:main:parent"}
	h.must(h.e.PrepareSubagent(ctx, spawn))
	say(childID, childKey, "count the herons")
	ended := skald.SubagentRequest{Request: h.request(), ChildKey: childKey}
	ended.Session = skald.SessionAddress{}
	h.must(h.e.SubagentEnded(ctx, ended))
	list, err := h.e.ListSessions(ctx, skald.DefaultIdentity, 0)
	h.must(err)
	if len(list) != 2 {
		t.Errorf("%d sessions are listed, not parent and child: %+v", len(list), list)
	}
	for _, s := range list {
		if s.ID != childID {
			continue
		}
		want := string(skald.SessionRef{Scope: skald.Scope{Account: "default", Kind: skald.ScopeUser, User: "default"}, ID: parentID}.TurnsURI(2, 0))
		if s.Parent != want || s.Archives != 1 {
			t.Errorf("the child: %+v, parent should be %s", s, want)
		}
	}
}

// A run that was aborted before any answer leaves a user message that the host takes off its path: its text stands in the next prompt,
// which is stored at the same position. It stays stored, and never stands beside the prompt or another user message.
func TestUnansweredMessageLeavesTheView(t *testing.T) {
	h := newHost(t)
	ctx := context.Background()
	entry := func(id string, position int64, raw []byte) skald.Entry {
		return skald.Entry{EntryID: id, Position: &position, Message: raw}
	}
	deliver := func(entries ...skald.Entry) {
		t.Helper()
		_, err := h.e.Reconcile(ctx, skald.ReconcileRequest{Request: h.request(), Entries: entries})
		h.must(err)
	}
	deliver(entry("e1", 0, h.user("one")), entry("e2", 1, h.reply("ok: one")), entry("e3", 2, h.user("never answered")))
	h.list = append(h.list, h.user("one"), h.reply("ok: one"))
	for n, prompt := range []string{"[Queued user message]\nnever answered\n\nthree", "four"} {
		for _, raw := range h.assemble(prompt, func(r *skald.AssembleRequest) { r.Tail = nil }).Messages {
			if bytes.Contains(raw, []byte(`"content":"never answered"`)) {
				t.Errorf("prompt %d: the view holds %s", n, raw)
			}
		}
		deliver(entry("e4", 2, h.user("three")), entry("e5", 3, h.reply("ok: three")))
	}
	turns, err := h.e.ListTurns(ctx, skald.DefaultIdentity, "agent:main:main", 0, 0)
	h.must(err)
	if len(turns) != 5 {
		t.Errorf("%d turns are stored", len(turns))
	}
}

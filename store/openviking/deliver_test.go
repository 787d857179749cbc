package openviking_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	client "github.com/skald-engine/skald/client/openviking"
	"github.com/skald-engine/skald/client/openviking/fake"
)

// odd are messages whose bytes must come back as they are: NUL, a broken surrogate, spaces, an unknown block, no JSON object at all.
var odd = []json.RawMessage{
	json.RawMessage(`{"role":"user","content":"broken \ud800 and \u0000 and   spaces"  , "timestamp":1772442000000}`),
	json.RawMessage(`{"role":"assistant","content":[{"type":"thinking","thinking":"secret"},{"type":"toolCall","id":"c1","name":"look","arguments":{"q":"\udfff"}}]}`),
	json.RawMessage(`{"role":"toolResult","toolCallId":"c1","toolName":"look","content":[{"type":"text","text":"a\u2028b"}],"isError":false}`),
	json.RawMessage(`{"role":"assistant","content":[{"type":"later","x":[1.0,1e3]},{"type":"text","text":"done"}]}`),
	json.RawMessage(`{"role":"custom","customType":"x","content":"from the machinery"}`),
	json.RawMessage(`[1, 2]`),
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("Hello"), reply("Good morning"))
	d.say(key, odd...)
	d.drained()
	got := server.Messages(ref(key).ID)
	same(t, "sequences", carried(got), []string{"1", "2", "3", "4", "5", "6", "7", "8"})
	same(t, "words", texts(got), []string{"user: Hello", "assistant: Good morning", "user: broken � and \x00 and   spaces",
		"assistant: tool c1 look pending map[q:�]", "user: tool c1 look completed a\u2028b", "assistant: done"})
	d.rebuildsTo(of(server))
}

// TestNeverOnTheTurnsPath stores while the server hangs.
func TestNeverOnTheTurnsPath(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	server.SetFault(func(*http.Request) fake.Fault { return fake.Delay }) // until the client gives up
	d := start(t, of(server), nil)
	for i := range 50 {
		d.say(key, user(fmt.Sprint("turn ", i)))
	}
	h, err := d.store.Health(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if h.Turns != 50 || h.Remote.Turns != 50 || h.Remote.Oldest.IsZero() {
		t.Errorf("stored and undelivered: %+v %+v", h, h.Remote)
	}
	server.SetFault(nil)
	d.stop() // it hangs in its first request; the next daemon goes on
	next := start(t, of(server), d.local)
	next.drained()
	same(t, "delivered", len(carried(server.Messages(ref(key).ID))), 50)
}

func TestArchives(t *testing.T) {
	t.Parallel()
	server := &fake.Server{Extract: likes, Polls: 2}
	server.Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("Anna likes green tea"), reply("Noted"))
	d.say(key, user("What is the weather in Oslo today?"), reply("Rain"))
	d.compact(key)
	d.say(key, user("Bob likes cold coffee"), reply("I see"))
	d.compact(key)
	d.say(key, user("Bye"))
	d.drained()
	same(t, "archives on the server", server.Archives(ref(key).ID), 2)
	same(t, "sequences", carried(server.Messages(ref(key).ID)), []string{"1", "2", "3", "4", "5", "6", "7"})
	made := map[skald.URI][]skald.MemorySource{}
	for _, m := range memories(t, d.local) {
		if !m.Explicit && m.Origin == skald.OriginAgent {
			made[m.URI] = m.Sources
		}
	}
	same(t, "memories of the server, with the turns they came from", made, map[skald.URI][]skald.MemorySource{
		"viking://user/default/memories/entities/openviking/people/anna.md": {{Session: ref(key), From: 1, To: 1}},
		"viking://user/default/memories/entities/openviking/people/bob.md":  {{Session: ref(key), From: 5, To: 5}},
	})
	again := d.rebuildsTo(of(server))
	count := 0
	for _, m := range memories(t, again.local) {
		if _, ok := made[m.URI]; ok {
			count++
		}
	}
	same(t, "the server's memories after a rebuild", count, 2)
	same(t, "archives on the server after a rebuild", server.Archives(ref(key).ID), 2)
}

func TestForget(t *testing.T) {
	t.Parallel()
	server := &fake.Server{Extract: likes}
	server.Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("Anna likes green tea"), reply("Noted"))
	d.say(key, user("The office is in Oslo"), reply("Noted"))
	d.compact(key)
	d.drained()
	const uri = "viking://user/default/memories/entities/openviking/people/anna.md"
	const file = "viking://user/me/memories/entities/people/anna.md"
	if _, ok := server.File(file); !ok {
		t.Fatalf("the server extracted nothing: %v", server.Files())
	}
	d.forget(uri)
	d.drained()
	if _, ok := server.File(file); ok {
		t.Error("the server still has what was forgotten")
	}
	again := d.rebuildsTo(of(server))
	if err := again.engine.RunJobs(context.Background()); err != nil { // summaries and memories are made again
		t.Fatal(err)
	}
	for _, m := range memories(t, again.local) {
		if m.URI == uri {
			t.Error("a rebuild brought back what was forgotten")
		}
	}
	for _, x := range turns(t, again.local, ref(key)) {
		if x.Seq == 1 && !x.Forgotten || x.Seq == 3 && x.Forgotten {
			t.Errorf("turn %d: forgotten is %v", x.Seq, x.Forgotten)
		}
	}
}

func (d *daemon) forget(uri skald.URI) {
	d.t.Helper()
	err := d.store.Update(context.Background(), func(tx skald.Tx) error {
		_, err := d.engine.Forget(tx, skald.DefaultIdentity, uri)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) tool(name string, args map[string]any) {
	d.t.Helper()
	raw, _ := json.Marshal(args)
	if _, err := d.engine.Tool(context.Background(), skald.ToolRequest{Request: request(key), Tool: name, Args: raw}); err != nil {
		d.t.Fatal(err)
	}
}

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("Remember the code word"))
	d.tool("memory_store", map[string]any{"text": "The code word is mandolin", "type": "entities"})
	d.tool("memory_store", map[string]any{"text": "I prefer short answers", "type": "preferences"})
	d.drained()
	same(t, "files on the server", len(server.Files()), 2)
	used := memories(t, d.local)[0]
	used.Uses++
	if err := d.store.Update(context.Background(), func(tx skald.Tx) error { return tx.PutMemory(used) }); err != nil {
		t.Fatal(err)
	}
	if h, err := d.store.Health(context.Background()); err != nil || h.Remote.Changes != 0 {
		t.Errorf("a mere use waits for the server: %+v %v", h.Remote, err)
	}
	again := d.rebuildsTo(of(server))
	used.Uses-- // uses are this machine's
	if err := d.store.Update(context.Background(), func(tx skald.Tx) error { return tx.PutMemory(used) }); err != nil {
		t.Fatal(err)
	}
	same(t, "stored memories after a rebuild", memories(t, again.local), memories(t, d.local))
	again.forget(memories(t, d.local)[0].URI)
	again.drained()
	same(t, "files on the server after one was forgotten", len(server.Files()), 1)
	same(t, "memories after another rebuild", len(memories(t, again.rebuildsTo(of(server)).local)), 1)
}

// TestOtherUsersStayHere: the server's user is one person.
func TestOtherUsersStayHere(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	d := start(t, of(server), nil)
	other := request(key)
	other.Identity.User = "bob"
	if _, err := d.engine.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: other, AdvancementKey: "1",
		Messages: []json.RawMessage{user("mine alone")}}); err != nil {
		t.Fatal(err)
	}
	d.say("agent:main:other", user("Hello"))
	d.drained()
	same(t, "sessions on the server", server.Sessions(), []string{ref("agent:main:other").ID})
}

// TestNameTaken: a session of another program, or of another Skald, has the id on the server already.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	server.Put(ref(key).ID, client.Message{Role: "user", Parts: []client.Part{client.Text("by the old plugin")}})
	first := start(t, of(server), nil)
	first.say(key, user("One"), reply("Two"))
	first.drained()
	same(t, "the old session", texts(server.Messages(ref(key).ID)), []string{"user: by the old plugin"})
	same(t, "sessions", len(server.Sessions()), 2)

	second := start(t, remote{server.URL, fake.Key}, nil) // another machine, which reads what is there
	second.drained()
	same(t, "read", turns(t, second.local, ref(key)), turns(t, first.local, ref(key)))
	first.say(key, user("Three at the first"))
	first.drained()
	second.say(key, user("Three at the second"))
	second.drained()
	same(t, "sessions", len(server.Sessions()), 3)
	third := start(t, of(server), nil)
	third.drained()
	var all []skald.Session
	view(t, third.local, func(tx skald.Tx) (err error) {
		all, err = tx.Sessions(skald.SessionQuery{})
		return err
	})
	same(t, "both ways are there", len(all), 2)
}

// TestDeletedSession goes on the server as well.
func TestDeletedSession(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("Hello"))
	d.drained()
	if err := d.store.Update(context.Background(), func(tx skald.Tx) error { return tx.DeleteSession(ref(key)) }); err != nil {
		t.Fatal(err)
	}
	d.drained()
	same(t, "sessions on the server", server.Sessions(), []string(nil))
}

// TestServerLostIt: a server that was restored from a backup gets what it lacks.
func TestServerLostIt(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("One"), reply("Two"))
	d.drained()
	d.stop()
	server.Forget(ref(key).ID)
	next := start(t, of(server), d.local)
	next.said = 1000
	next.say(key, user("Three"))
	next.drained()
	same(t, "sequences", carried(server.Messages(ref(key).ID)), []string{"1", "2", "3"})
}

func TestOldServer(t *testing.T) {
	t.Parallel()
	server := &fake.Server{Old: true, Version: "0.3.9"}
	server.Start(t)
	d := start(t, of(server), nil)
	d.say(key, user("One"), reply("Two"), user("Three"))
	d.compact(key)
	d.drained()
	same(t, "sequences", carried(server.Messages(ref(key).ID)), []string{"1", "2", "3"})
	d.rebuildsTo(of(server))
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	d := start(t, remote{server.URL, "wrong"}, nil)
	d.say(key, user("One"))
	eventually(t, func() bool {
		h, err := d.store.Health(context.Background())
		return err == nil && h.Remote.Error != "" && !h.Remote.Reachable && h.Remote.Turns == 1
	}, func() string { return "the wrong key does not show" })
}

// TestMove: a store that was local, or had another server, gives the server all that it has.
func TestMove(t *testing.T) {
	t.Parallel()
	first, second := new(fake.Server).Start(t), new(fake.Server).Start(t)
	d := start(t, of(first), nil)
	d.say(key, user("One"), reply("Two"))
	d.compact(key)
	d.say(key, user("Three"))
	d.drained()
	d.stop()
	moved := start(t, of(second), d.local)
	moved.drained()
	same(t, "sequences at the second server", carried(second.Messages(ref(key).ID)), []string{"1", "2", "3"})
	same(t, "archives at the second server", second.Archives(ref(key).ID), 1)
	moved.rebuildsTo(of(second))
}

// TestNewAddress: the same server under another URL is recognised, also where a session has another name there.
func TestNewAddress(t *testing.T) {
	t.Parallel()
	server := new(fake.Server).Start(t)
	server.Put(ref(key).ID, client.Message{Role: "user", Parts: []client.Part{client.Text("by the old plugin")}})
	d := start(t, of(server), nil)
	d.say(key, user("One"), reply("Two"))
	d.compact(key)
	d.say(key, user("Three"))
	d.drained()
	d.stop()
	before := server.Sessions()
	next := start(t, remote{strings.Replace(server.URL, "127.0.0.1", "localhost", 1), fake.Key}, d.local)
	next.said = 1000
	next.say(key, user("Four"))
	next.drained()
	same(t, "sessions on the server", server.Sessions(), before)
	next.rebuildsTo(of(server))
}

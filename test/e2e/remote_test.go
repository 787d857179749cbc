package e2e

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	client "github.com/skald-engine/skald/client/openviking"
	"github.com/skald-engine/skald/test/openviking"
	"github.com/skald-engine/skald/test/world"
)

// The main job with a real OpenViking server behind the daemon: the agent remembers across a compaction, the server has what was said in its own
// words and byte for byte, and a daemon whose file was lost goes on with it. SKALD_E2E_STORE=openviking runs the whole suite so.
func TestRemoteStore(t *testing.T) {
	needHost(t)
	t.Setenv("SKALD_OPENVIKING", openviking.Venv(t))
	w := own(t, world.Options{AlsoAllow: memoryTools, Remote: true})
	ctx := deadline(t, 6*time.Minute)
	const key = "agent:main:remote"
	say := func(text string) string {
		t.Helper()
		reply, requests, err := w.Turn(ctx, key, text)
		if err != nil {
			t.Fatal(err)
		}
		unrefused(t, requests)
		return reply
	}
	say("I prefer the password hint heliotrope for the archive in Bergen.")
	say(`CALL memory_store {"text":"The spare key lies under the third flower pot","type":"entities"}`)
	for i := range 4 {
		say(fmt.Sprintf("Filler number %d about the weather and the harbour.", i))
	}
	s, err := w.Session(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client.Compact(ctx, skald.CompactRequest{Request: skald.Request{Identity: world.Identity, Session: skald.SessionAddress{SessionKey: key, SessionID: s.ID}},
		TokenBudget: 100_000, Force: true, Trigger: "manual"}); err != nil {
		t.Fatal(err)
	}
	if reply := say("What is it for the archive in Bergen?\nANSWER-FROM-CONTEXT hint helio\\w+"); !strings.Contains(reply, "heliotrope") {
		t.Errorf("after a compaction: %q", reply)
	}
	delivered(t, ctx, w)
	turns := sameAsHost(t, ctx, w, key)
	sameOnServer(t, ctx, w, s.ID, turns)

	w.Daemon.Stop() // and its file is lost
	w.Daemon.Data += "-new"
	if err := w.Daemon.Start(ctx); err != nil {
		t.Fatal(err)
	}
	c, err := w.Daemon.Client()
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.ListTurns(ctx, world.Identity, s.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != len(turns) {
		t.Fatalf("%d turns came back of %d", len(again), len(turns))
	}
	for i := range again {
		if !bytes.Equal(again[i].Raw, turns[i].Raw) {
			t.Errorf("turn %d came back otherwise", i+1)
		}
	}
	report, err := c.Verify(ctx, world.Identity, s.ID)
	if err != nil || !report.OK {
		t.Errorf("the chain after the file was lost: %+v %v", report, err)
	}
	found, err := c.Find(ctx, world.Identity, skald.FindQuery{Query: "spare key flower pot", Kinds: []skald.DocKind{skald.DocMemory}, Limit: 3})
	if err != nil || len(found.Hits) == 0 {
		t.Errorf("the stored memory after the file was lost: %+v %v", found, err)
	}
}

// delivered waits until the server lacks nothing.
func delivered(t *testing.T, ctx context.Context, w *world.World) {
	t.Helper()
	eventually(t, 2*time.Minute, "the OpenViking server has everything", func() bool {
		st, err := w.Client.Status(ctx, world.Identity)
		r := st.Store.Remote
		return err == nil && r != nil && r.Reachable && r.Turns == 0 && r.Changes == 0 && r.Waiting == 0
	})
}

// sameOnServer compares a session's messages on the server with the stored turns: each once, in order, with the host's bytes in it.
func sameOnServer(t *testing.T, ctx context.Context, w *world.World, id string, turns []skald.TurnInfo) {
	t.Helper()
	c := client.New(w.Remote.URL, client.Options{Key: w.Remote.Key})
	info, err := c.Session(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if info.Commits == 0 {
		t.Error("the server archived nothing")
	}
	var lines []string
	home := "viking://user/me/sessions/" + id
	for i := range info.Commits + 1 {
		file := fmt.Sprintf("%s/history/archive_%03d/messages.jsonl", home, i+1)
		if i == info.Commits {
			file = home + "/messages.jsonl"
		}
		b, err := c.Read(ctx, file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })...)
	}
	if len(lines) != len(turns) {
		t.Fatalf("the server has %d messages of %d turns", len(lines), len(turns))
	}
	for i, line := range lines {
		if raw := carriedBytes(t, line); !bytes.Equal(raw, turns[i].Raw) {
			t.Errorf("turn %d on the server:\n%s\nwas said:\n%s", i+1, raw, turns[i].Raw)
		}
	}
}

// carriedBytes takes the host's bytes out of a message as docs/openviking-store.md describes it: by nobody's code but this.
func carriedBytes(t *testing.T, line string) []byte {
	t.Helper()
	var m struct {
		Sources []string `json:"source_message_ids"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || len(m.Sources) != 4 {
		t.Fatalf("a message carries %d strings (%v): %.200s", len(m.Sources), err, line)
	}
	packed, err := base64.StdEncoding.DecodeString(m.Sources[3])
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	_, raw, _ := bytes.Cut(b, []byte("\n"))
	return raw
}

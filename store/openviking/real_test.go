package openviking_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/skald-engine/skald"
	models "github.com/skald-engine/skald/bench/openviking"
	client "github.com/skald-engine/skald/client/openviking"
	"github.com/skald-engine/skald/client/openviking/fake"
	real "github.com/skald-engine/skald/test/openviking"
)

// The tests of this file ask a real OpenViking server, and skip where none can be installed.

// likesLine is a line of the conversation as OpenViking shows it to the model that extracts memories.
var likesLine = regexp.MustCompile(`(?m)^\[\d+\]\[user\]\[[^\]]*\]: (\w+) likes (.+)$`)

// likesProgram is the script of likes for the model of a real server.
func likesProgram(c models.Completion) models.Reply {
	if !strings.Contains(c.Text, "sdk.create_entities(") {
		return models.Script(c)
	}
	var b strings.Builder
	for _, m := range likesLine.FindAllStringSubmatch(c.Text, -1) {
		fmt.Fprintf(&b, "sdk.create_entities(category=\"people\", name=%q, content=\"# %s - Likes %s\")\n", strings.ToLower(m[1]), m[1], m[2])
	}
	return models.Reply{Text: b.String() + "sdk.commit()\n"}
}

// TestReal runs everything against one real server, each part in an account of its own.
func TestReal(t *testing.T) {
	t.Parallel()
	m, err := models.StartModels(likesProgram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	server := real.Start(t, real.Options{Models: m})
	account := func(t *testing.T) remote {
		return remote{server.URL, server.NewUser(t, strings.ToLower(t.Name()[len("TestReal/"):]), "me")}
	}
	t.Run("Contract", func(t *testing.T) { contract(t, account(t)) })
	t.Run("Life", func(t *testing.T) { realLife(t, account(t)) })
	t.Run("Memory", func(t *testing.T) { realMemory(t, account(t)) })
	t.Run("Faults", func(t *testing.T) { realFaults(t, account(t)) })
}

// TestContract asks the fake what TestReal asks the real server.
func TestContract(t *testing.T) {
	t.Parallel()
	server := &fake.Server{Extract: likes, Polls: 1}
	contract(t, of(server.Start(t)))
}

// contract is what this package relies on.
func contract(t *testing.T, r remote) {
	ctx := context.Background()
	c := client.New(r.URL, client.Options{Key: r.Key})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	kind := func(what string, err error, want skald.Kind) {
		t.Helper()
		if skald.KindOf(err) != want {
			t.Errorf("%s: %v (%s), want %s", what, err, skald.KindOf(err), want)
		}
	}
	version, err := c.Health(ctx)
	must(err)
	me, err := c.User(ctx)
	must(err)
	batch, err := c.HasBatch(ctx)
	must(err)
	if version == "" || me != fake.User || !batch {
		t.Errorf("version %q, user %q, batch %v", version, me, batch)
	}
	_, err = client.New(r.URL, client.Options{Key: "wrong"}).User(ctx)
	kind("a wrong key", err, skald.KindUnauth)
	_, err = c.Session(ctx, "none")
	kind("no session", err, skald.KindNotFound)
	must(c.CreateSession(ctx, "s"))
	kind("a session twice", c.CreateSession(ctx, "s"), skald.KindExists)

	odd := []string{"any", "text \x00 \u2028 of", strings.Repeat("any length ", 100_000)}
	must(c.Append(ctx, "s", []client.Message{
		{Role: "user", Parts: []client.Part{client.Text("Anna likes tea \u2028 here")}, Sources: odd},
		{Role: "assistant", Parts: []client.Part{client.Text("")}, Sources: []string{"2"}},
	}))
	must(c.AppendOne(ctx, "s", client.Message{Role: "system", Parts: []client.Part{client.Text("x")}, Sources: []string{"3"}}))
	home := "viking://user/" + me + "/sessions/s"
	sources := func(file string) (out []string) {
		b, err := c.Read(ctx, file)
		must(err)
		for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
			out = append(out, line)
		}
		return out
	}
	live := sources(home + "/messages.jsonl")
	if len(live) != 3 || !strings.Contains(live[1], `"2"`) || !strings.Contains(live[2], `"3"`) {
		t.Errorf("live messages: %d lines", len(live))
	}
	info, err := c.Session(ctx, "s")
	must(err)
	same(t, "counts", []int{info.Live, info.Commits}, []int{3, 0})
	done, err := c.Commit(ctx, "s")
	must(err)
	same(t, "commit", []any{done.Status, done.Archive, done.Task != ""}, []any{"accepted", home + "/history/archive_001", true})
	same(t, "archived messages", sources(done.Archive+"/messages.jsonl"), live)
	again, err := c.Commit(ctx, "s")
	must(err)
	same(t, "a commit of nothing", []any{again.Status, again.Archive}, []any{"skipped", ""})
	must(c.AppendOne(ctx, "s", client.Message{Role: "user", Parts: []client.Part{client.Text("new")}}))
	list, err := c.List(ctx, home+"/history")
	must(err)
	if len(list) != 1 || list[0].Name != "archive_001" || !list[0].Dir {
		t.Errorf("history: %+v", list)
	}
	eventually(t, func() bool {
		task, err := c.Task(ctx, done.Task)
		must(err)
		return task.Status == "completed"
	}, func() string { return "the task does not complete" })
	diff, err := c.Read(ctx, done.Archive+"/memory_diff.json")
	must(err)
	if !strings.Contains(string(diff), "memories/entities/people/anna.md") || !strings.Contains(string(diff), `"after"`) {
		t.Errorf("memory_diff.json: %s", diff)
	}
	kind("a file of the session itself", c.Write(ctx, home+"/x.json", "{}"), skald.KindInvalid)
	file := "viking://user/" + me + "/memories/preferences/skald/tea.md"
	must(c.Write(ctx, file, "one"))
	must(c.Write(ctx, file, "two"))
	text, err := c.Read(ctx, file)
	must(err)
	if !strings.HasPrefix(string(text), "two") {
		t.Errorf("after two writes: %q", text)
	}
	must(c.Delete(ctx, file))
	must(c.Delete(ctx, file))
	_, err = c.Read(ctx, file)
	kind("a deleted file", err, skald.KindNotFound)
	_, err = c.Task(ctx, "none")
	kind("no task", err, skald.KindNotFound)
	must(c.DeleteSession(ctx, "s"))
	must(c.DeleteSession(ctx, "s"))
}

// onServer are the messages of a session on a server, archived ones first.
func onServer(t testing.TB, r remote, id string) (list []client.Message) {
	t.Helper()
	c := client.New(r.URL, client.Options{Key: r.Key})
	home := "viking://user/me/sessions/" + id
	s, err := c.Session(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{}
	for i := range s.Commits {
		files = append(files, fmt.Sprintf("%s/history/archive_%03d/messages.jsonl", home, i+1))
	}
	for _, f := range append(files, home+"/messages.jsonl") {
		b, err := c.Read(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, parse(t, b)...)
	}
	return list
}

// realLife: what was said is on the server in OpenViking's words and byte for byte, and comes back.
func realLife(t *testing.T, r remote) {
	d := start(t, r, nil)
	live(d)
	d.drained()
	stored := turns(t, d.local, ref(key))
	var want []string
	for _, x := range stored {
		want = append(want, fmt.Sprint(x.Seq))
	}
	got := onServer(t, r, ref(key).ID)
	same(t, "sequences", carried(got), want)
	if words := strings.Join(texts(got), "\n"); !strings.Contains(words, "user: Anna likes green tea") || !strings.Contains(words, "tool c1 look completed") {
		t.Errorf("words on the server:\n%s", words)
	}
	again := d.rebuildsTo(r)
	found := 0
	for _, m := range memories(t, again.local) {
		if strings.Contains(string(m.URI), "/openviking/people/") {
			found++
			if len(m.Sources) != 1 || m.Sources[0].From != m.Sources[0].To {
				t.Errorf("%s comes from %+v", m.URI, m.Sources)
			}
		}
	}
	same(t, "memories of the server, after a rebuild", found, 2)
}

// realMemory: memory_store and forgetting reach the server.
func realMemory(t *testing.T, r remote) {
	c := client.New(r.URL, client.Options{Key: r.Key})
	d := start(t, r, nil)
	d.say(key, user("Carl likes old maps"), reply("Noted"))
	d.compact(key)
	d.tool("memory_store", map[string]any{"text": "The code word is mandolin", "type": "entities"})
	d.drained()
	const file = "viking://user/me/memories/entities/people/carl.md"
	if _, err := c.Read(context.Background(), file); err != nil {
		t.Fatal(err)
	}
	d.forget("viking://user/default/memories/entities/openviking/people/carl.md")
	d.drained()
	if _, err := c.Read(context.Background(), file); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("what was forgotten is still there: %v", err)
	}
	again := d.rebuildsTo(r)
	var uris []string
	for _, m := range memories(t, again.local) {
		uris = append(uris, m.Text)
	}
	if all := strings.Join(uris, "\n"); !strings.Contains(all, "mandolin") || strings.Contains(all, "maps") {
		t.Errorf("memories after a rebuild: %s", all)
	}
}

// realFaults: a bad line to the real server loses and doubles nothing.
func realFaults(t *testing.T, r remote) {
	target, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	off, random := false, rand.New(rand.NewPCG(1, 2))
	kinds := []fake.Fault{fake.DropLate, fake.DropEarly, fake.Truncate, fake.Fail503Late, fake.Fail429}
	decide := func(*http.Request) fake.Fault {
		mu.Lock()
		defer mu.Unlock()
		if off || random.IntN(10) < 7 {
			return fake.None
		}
		return kinds[random.IntN(len(kinds))]
	}
	proxy := httptest.NewServer(fake.Faulty(decide, httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(proxy.Close)
	d := start(t, remote{proxy.URL, r.Key}, nil)
	live(d)
	for i := range 8 {
		d.say(key, user(fmt.Sprint("line ", i)), reply("ok"))
	}
	d.drained()
	mu.Lock()
	off = true
	mu.Unlock()
	var want []string
	for _, x := range turns(t, d.local, ref(key)) {
		want = append(want, fmt.Sprint(x.Seq))
	}
	same(t, "sequences", carried(onServer(t, r, ref(key).ID)), want)
	d.rebuildsTo(r)
}

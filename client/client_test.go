package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/servertest"
	"github.com/skald-engine/skald/server/wire"
)

const key = "0123456789abcdef0123456789abcdef"

// dial starts a daemon around a fake and connects a client with a key.
func dial(t *testing.T, f *servertest.Fake) *client.Client {
	t.Helper()
	access, err := server.NewAccess("127.0.0.1:0", false, skald.Identity{}, []server.Key{{Key: key, Account: "acme", User: "ann"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Deps{Engine: f, Inspector: f, API: f, Access: access, Loopback: true, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return client.New(h.URL, key, client.Options{})
}

// ugly are messages that encoding/json would change or that are hardly messages at all.
var ugly = []json.RawMessage{
	json.RawMessage(`{"role":"user","content":"<script>&amp;\u0000 \ud800 lone \udc00\ud800"}`),
	json.RawMessage("{ \"role\" :\t\"user\",\r\n  \"content\": [ 1.0, 1e3, -0, 12345678901234567890 ] }"),
	json.RawMessage("{\"role\":\"user\",\"content\":\"\xff\xfe broken UTF-8 \xed\xa0\x80\"}"),
	json.RawMessage("{\"content\":\"\u2028\u2029 raw separators\",\"content\":\"twice\"}"),
	json.RawMessage(`{"role":"no such role","\u0072ole":{"deep":[[[[{"a":null}]]]]}}`),
	json.RawMessage(`null`), json.RawMessage(`17`), json.RawMessage(`"\/text"`), json.RawMessage(`[ ]`), json.RawMessage(`{}`),
	json.RawMessage(`{"role":"user","content":"\u00e9 e\u0301 😀 \ud83d\ude00"}`),
}

func same(t *testing.T, what string, got, want []json.RawMessage) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d messages, want %d", what, len(got), len(want))
	}
	for i := range want {
		if string(got[i]) != string(want[i]) {
			t.Errorf("%s[%d]:\n got %q\nwant %q", what, i, got[i], want[i])
		}
	}
}

func last[T any](t *testing.T, f *servertest.Fake) T {
	t.Helper()
	r, _ := f.Last()
	v, ok := r.(T)
	if !ok {
		t.Fatalf("the engine got %T", r)
	}
	return v
}

func TestMessagesPassByteForByte(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{Reply: skald.AssembleResult{
		Messages: ugly, TurnID: "<t>", EstimatedTokens: 5, Packet: &skald.AssembledContextPacket{InjectedMessages: ugly, ProfileBlocks: []string{"<&>"}},
	}}
	c, ctx := dial(t, f), t.Context()

	_, err := c.CommitTurn(ctx, skald.CommitTurnRequest{AdvancementKey: "<k>", Messages: ugly})
	check(t, err)
	same(t, "commit_turn", last[skald.CommitTurnRequest](t, f).Messages, ugly)

	_, err = c.AfterTurn(ctx, skald.AfterTurnRequest{Messages: ugly, PrePromptMessageCount: 3})
	check(t, err)
	same(t, "after_turn", last[skald.AfterTurnRequest](t, f).Messages, ugly)

	_, err = c.Ingest(ctx, skald.IngestRequest{Messages: ugly})
	check(t, err)
	same(t, "ingest", last[skald.IngestRequest](t, f).Messages, ugly)

	_, err = c.Compact(ctx, skald.CompactRequest{Tail: ugly})
	check(t, err)
	same(t, "compact", last[skald.CompactRequest](t, f).Tail, ugly)

	res, err := c.Assemble(ctx, skald.AssembleRequest{Prompt: "<p>", Tail: ugly})
	check(t, err)
	same(t, "assemble tail", last[skald.AssembleRequest](t, f).Tail, ugly)
	same(t, "assembled", res.Messages, ugly)
	same(t, "packet", res.Packet.InjectedMessages, ugly)
	if diff := cmp.Diff(f.Reply, res); diff != "" {
		t.Errorf("assemble (-want +got):\n%s", diff)
	}

	x, err := c.Explain(ctx, skald.Identity{}, "s", 4)
	check(t, err)
	same(t, "explain", x.Packet.InjectedMessages, ugly)
}

func TestTranscriptsPassByteForByte(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	c, ctx := dial(t, f), t.Context()
	position := int64(3)
	r := skald.ReconcileRequest{Cursor: json.RawMessage(`{ "a" : "<&>\ud800" }`), Reset: true}
	for _, m := range ugly {
		r.Entries = append(r.Entries, skald.Entry{EntryID: "<e>", Position: &position, Message: m})
	}
	_, err := c.Reconcile(ctx, r)
	check(t, err)
	got := last[skald.ReconcileRequest](t, f)
	for i, e := range got.Entries {
		same(t, "entry", []json.RawMessage{e.Message}, ugly[i:i+1])
		if e.EntryID != "<e>" || *e.Position != 3 {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	same(t, "cursor", []json.RawMessage{got.Cursor}, []json.RawMessage{r.Cursor})

	b, err := c.Bootstrap(ctx, skald.BootstrapRequest{})
	check(t, err)
	same(t, "bootstrap", []json.RawMessage{b.Cursor}, []json.RawMessage{json.RawMessage(`{ "at" : "<1>" }`)})

	args := json.RawMessage(`{ "query": "<a>" }`)
	a, err := c.Tool(ctx, skald.ToolRequest{Tool: "memory_recall", Args: args})
	check(t, err)
	same(t, "args", []json.RawMessage{last[skald.ToolRequest](t, f).Args}, []json.RawMessage{args})
	same(t, "details", []json.RawMessage{a.Details}, []json.RawMessage{json.RawMessage(`{ "a" : "<b>" }`)})
}

// A stored message comes back as it went in, by base64 and as bytes.
func TestTurnsComeBackByteForByte(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	c, ctx := dial(t, f), t.Context()
	id := skald.Identity{Account: "acme", User: "ann", Agent: "main"}
	for i, m := range ugly {
		_, err := f.AddMessages(ctx, id, "s", []skald.Entry{{EntryID: string(rune('a' + i)), Message: m}})
		check(t, err)
	}
	turns, err := c.ListTurns(ctx, skald.Identity{}, "s", 2, 4)
	check(t, err)
	for i, turn := range turns {
		same(t, "turn", []json.RawMessage{turn.Raw}, ugly[i+1:i+2])
	}
	for i, m := range ugly {
		raw, err := c.RawTurn(ctx, skald.Identity{}, "s", int64(i+1))
		check(t, err)
		same(t, "raw", []json.RawMessage{raw}, []json.RawMessage{m})
	}
}

func TestEveryFieldOfARequestArrives(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	c := dial(t, f)
	limit, on := 7, false
	want := skald.AssembleRequest{
		Request: skald.Request{
			Session:  skald.SessionAddress{SessionID: "s", SessionKey: "agent:x:main", AgentID: "coder", Lifecycle: "r2", SenderID: "kim"},
			Settings: skald.Settings{RecallLimit: &limit, AutoRecall: &on, RecallForm: "text"},
		},
		Prompt: "why?", TokenBudget: 9000, Model: "m", Provider: "p", Tools: []string{"a"}, MessageCount: 3,
		Tail: []json.RawMessage{json.RawMessage(`{}`)}, Pending: 4, TurnID: "t", ToolSearch: true, DryRun: true,
	}
	_, err := c.Assemble(t.Context(), want)
	check(t, err)
	want.Identity = skald.Identity{Account: "acme", User: "ann", Agent: "coder"}
	if diff := cmp.Diff(want, last[skald.AssembleRequest](t, f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInspectorArrives(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	c, ctx, id := dial(t, f), t.Context(), skald.Identity{Account: "other", User: "eve", Agent: "coder"}
	q := skald.FindQuery{Query: "a&b", Kinds: []skald.DocKind{skald.DocMemory}, Limit: 3, Threshold: .5, Session: "s", Now: 9}
	_, err := c.Find(ctx, id, q)
	check(t, err)
	if diff := cmp.Diff(q, last[skald.FindQuery](t, f)); diff != "" {
		t.Errorf("find (-want +got):\n%s", diff)
	}
	if _, got := f.Last(); got != (skald.Identity{Account: "acme", User: "ann", Agent: "coder"}) {
		t.Errorf("identity %v: account and user come from the key", got)
	}
	_, err = c.DryAssemble(ctx, id, "s", strings.Repeat("long ", 1<<20), 5)
	check(t, err)
	text, err := c.Read(ctx, id, "viking://user/ann/memories")
	if skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("read: %q %v", text, err)
	}
	status, err := c.Status(ctx, id)
	check(t, err)
	if !status.Store.Writing || !status.Started.Equal(servertest.Now) {
		t.Errorf("status %+v", status)
	}
	commit, err := c.Commit(ctx, id, "s", true)
	check(t, err)
	if !commit.Archived || commit.SessionID != "s" {
		t.Errorf("commit %+v", commit)
	}
	sessions, err := c.ListSessions(ctx, id, 0)
	if err != nil || sessions == nil {
		t.Errorf("sessions %v %v", sessions, err)
	}
}

func TestErrorsComeBackWhole(t *testing.T) {
	t.Parallel()
	want := &skald.Error{Op: "engine.assemble", URI: "viking://x", Field: "token_budget", Kind: skald.KindBudget, Err: errors.New("too <small>")}
	c := dial(t, &servertest.Fake{Fail: want})
	_, err := c.Assemble(t.Context(), skald.AssembleRequest{})
	var got *skald.Error
	if !errors.As(err, &got) || got.Error() != want.Error() || got.Kind != want.Kind || got.Field != want.Field {
		t.Errorf("got %#v", err)
	}
}

func TestWhatIsNoJSONIsNotSent(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	_, err := dial(t, f).CommitTurn(t.Context(), skald.CommitTurnRequest{Messages: []json.RawMessage{[]byte(`{}`), []byte(`{"a":`)}})
	var e *skald.Error
	if !errors.As(err, &e) || e.Field != "messages[1]" || e.Kind != skald.KindInvalid {
		t.Errorf("%v", err)
	}
	if r, _ := f.Last(); r != nil {
		t.Errorf("the engine got %v", r)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	addr := "http://" + l.Addr().String()
	l.Close()
	_, err = client.New(addr, key, client.Options{}).Status(t.Context(), skald.Identity{})
	if skald.KindOf(err) != skald.KindUnavailable || !strings.Contains(err.Error(), "no daemon answers at "+addr+": start it with `skald serve`") {
		t.Errorf("%v", err)
	}
	_, err = client.New("::no url::", key, client.Options{}).Status(t.Context(), skald.Identity{})
	if err == nil {
		t.Error("a broken URL is accepted")
	}
}

// The key is not shown to another program.
func TestAnotherProgramAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"html": "<html>", "json": `{"name":"viking"}`, "nothing": ""} {
		shown := make(chan string, 10)
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown <- r.Header.Get("Authorization") + r.Header.Get("X-API-Key")
			_, _ = w.Write([]byte(body))
		}))
		defer h.Close()
		_, err := client.New(h.URL, key, client.Options{}).Status(t.Context(), skald.Identity{})
		if skald.KindOf(err) != skald.KindConflict || !strings.Contains(err.Error(), "is not Skald") {
			t.Errorf("%s: %v", name, err)
		}
		if got := <-shown; got != "" || len(shown) > 0 {
			t.Errorf("%s: it was shown %q", name, got)
		}
	}
}

// PLG-09: one protocol apart works; more is one message that names both and what to do.
func TestPLG09ProtocolsApart(t *testing.T) {
	t.Parallel()
	for apart, want := range map[int]string{
		-2: "restart the daemon with this program (`skald serve`)",
		-1: "", 0: "", 1: "",
		2: "install this program in the daemon's version",
	} {
		protocol := skald.ProtocolVersion + apart
		body := fmt.Sprintf(`{"name":"skald","version":"9.%d","protocol":%d,"min_protocol":%d}`, protocol, protocol, protocol-1)
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		defer h.Close()
		_, err := client.New(h.URL, "", client.Options{}).Handshake(t.Context())
		if want == "" {
			check(t, err)
			continue
		}
		both := fmt.Sprintf("(skald 9.%d) speaks protocol %d, this program %d: ", protocol, protocol, skald.ProtocolVersion)
		if skald.KindOf(err) != skald.KindConflict || !strings.Contains(err.Error(), both+want) {
			t.Errorf("%d apart: %v", apart, err)
		}
	}
}

// PLG-09: an older daemon that lacks a route fails that call only.
func TestPLG09RouteMissing(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/engine/v1/handshake":
			_, _ = fmt.Fprintf(w, `{"name":"skald","version":"0.0.9","protocol":%d}`, skald.ProtocolVersion-1)
		case "/engine/v1/status":
			_, _ = w.Write([]byte(`{"version":"0.0.9"}`))
		default:
			http.NotFound(w, r)
		}
	}))
	defer h.Close()
	c := client.New(h.URL, "", client.Options{})
	if _, err := c.Command(t.Context(), wire.CommandRequest{Line: "why"}); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("command: %v", err)
	}
	st, err := c.Status(t.Context(), skald.Identity{})
	if err != nil || st.Version != "0.0.9" {
		t.Errorf("status: %+v, %v", st, err)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	leave := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-leave }))
	defer h.Close()
	defer close(leave)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := client.New(h.URL, key, client.Options{}).Status(ctx, skald.Identity{})
	if skald.KindOf(err) != skald.KindDeadline {
		t.Errorf("%v", err)
	}
}

// The interfaces have no method that the client answers with an empty result.
func TestEveryCallSpeaks(t *testing.T) {
	t.Parallel()
	c := dial(t, &servertest.Fake{Fail: skald.E("x", skald.KindUnavailable, "away")})
	for _, i := range []reflect.Type{reflect.TypeFor[skald.Engine](), reflect.TypeFor[skald.Inspector]()} {
		for n := range i.NumMethod() {
			m := reflect.ValueOf(c).MethodByName(i.Method(n).Name)
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for a := 1; a < m.Type().NumIn(); a++ {
				args = append(args, reflect.Zero(m.Type().In(a)))
			}
			out := m.Call(args)
			name := i.Method(n).Name
			if err := out[len(out)-1].Interface(); err == nil && name != "ListSessions" {
				t.Errorf("%s succeeds on a failing engine", name)
			}
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

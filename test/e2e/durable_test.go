package e2e

import (
	"context"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// Every kind of message is stored as the host's own transcript has it, byte for byte (I1, 000-014). Custom roles: TestOpenVikingBuild.
func TestDurableBytes(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 3*time.Minute)
	pixel, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	recallCall := `memory_recall {"query":"the café — 静か"}`
	cases := []struct {
		name, model string
		say         []string
		opts        []gateway.TurnOption
		holds       []string // in the stored bytes
	}{
		{"text", "lab-gpt/gpt-scripted", []string{"Zero\u200bwidth, 数据库, 🙂 and \"quotes\\\"", "ok", "ok", "PARALLEL 2 " + recallCall, "CALL no_such_tool {}"},
			nil, []string{`"type":"toolCall"`, `"role":"toolResult"`, "🙂", "no_such_tool"}},
		{"image", "lab-gpt/gpt-vision", []string{"what is this"}, []gateway.TurnOption{gateway.WithImage("image/png", pixel)},
			[]string{`"type":"image"`, base64.StdEncoding.EncodeToString(pixel)}},
		{"reasoning", "lab-deepseek/deepseek-scripted", []string{"THINK CALL " + recallCall, "and again"}, nil, []string{`"type":"thinking"`, `"type":"toolCall"`}},
		{"thinking", "lab-claude-think/claude-thinking", []string{"THINK CALL " + recallCall, "and again"}, nil, []string{`"type":"thinking"`, `"thinkingSignature":`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			key := "agent:main:bytes-" + c.name
			for _, text := range c.say {
				_, requests, err := w.Turn(ctx, key, text, append(c.opts, gateway.WithModel(c.model))...)
				if err != nil {
					t.Fatal(err)
				}
				unrefused(t, requests)
			}
			turns := sameAsHost(t, ctx, w, key)
			for _, text := range c.holds {
				if count(turns, text) == 0 {
					t.Errorf("no stored turn holds %s:\n%s", text, listTurns(turns))
				}
			}
		})
	}
}

// The daemon dies in the midst of a commitTurn: before it stored the exchange, and after it stored it but before it said so. The host
// repeats the exchange under the same key, and it is stored once (I2, 000-031).
func TestDurableDaemonKilledInCommit(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 3*time.Minute)
	for name, die := range map[string]func(*world.Exchange){
		"before": func(*world.Exchange) { w.Daemon.Kill() },
		"after": func(x *world.Exchange) {
			if err := x.Forward(); err != nil || !x.Stored {
				t.Errorf("the daemon did not store the exchange: %s, %v", x.Answer, err)
			}
			w.Daemon.Kill()
			x.Cut()
		},
	} {
		t.Run(name, func(t *testing.T) {
			key := "agent:main:killed-" + name
			turn(t, ctx, w, key, "one "+name)
			w.Proxy.Next(key, "commit_turn", die)
			turn(t, ctx, w, key, "two "+name)
			if err := w.Daemon.Start(ctx); err != nil {
				t.Fatal(err)
			}
			turn(t, ctx, w, key, "three "+name)
			sameAsHost(t, ctx, w, key)
			repeated(t, w, key)
		})
	}
}

// The gateway is killed while two commitTurn calls are under way: one stored but unanswered, one not stored. After its restart both
// exchanges are there once (I2, 000-031).
func TestDurableGatewayKilledInCommit(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 5*time.Minute)
	keys := []string{"agent:main:gateway-stored", "agent:main:gateway-unstored"}
	killed := make(chan struct{})
	var arrived, ended sync.WaitGroup
	for i, key := range keys {
		turn(t, ctx, w, key, "one")
		arrived.Add(1)
		w.Proxy.Next(key, "commit_turn", func(x *world.Exchange) {
			if i == 0 {
				if err := x.Forward(); err != nil || !x.Stored {
					t.Errorf("the daemon did not store the exchange: %s, %v", x.Answer, err)
				}
			}
			arrived.Done()
			<-killed
			x.Cut()
		})
		ended.Go(func() { _, _, _ = w.Turn(ctx, key, "two") })
	}
	arrived.Wait()
	w.Gateway.Kill()
	close(killed)
	ended.Wait()
	if err := w.Gateway.Restart(context.Background()); err != nil { // it outlives this test
		t.Fatal(err)
	}
	for _, key := range keys {
		// The host answers the interrupted turn by itself, at a time of its own, and refuses others in the meantime.
		eventually(t, 60*time.Second, "the host takes turns again", func() bool { _, _, err := w.Turn(ctx, key, "three"); return err == nil })
		eventually(t, 30*time.Second, key+" is stored as the host has it", func() bool { return agrees(t, ctx, w, key) })
		if turns := sameAsHost(t, ctx, w, key); count(turns, `"three"`) == 0 {
			t.Errorf("%s:\n%s", key, listTurns(turns))
		}
	}
	repeated(t, w, keys[0])
}

// agrees reports that store and host have the same number of messages, and the host is at rest.
func agrees(t *testing.T, ctx context.Context, w *world.World, key string) bool {
	host, err := w.Transcript(key)
	if err != nil {
		t.Fatal(err)
	}
	return len(host) == len(stored(t, ctx, w, key))
}

// A run that ends after many tool calls is never committed by the host (docs/openclaw.md, 14); the next bootstrap brings all of it.
func TestDurableAborted(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 3*time.Minute)
	for _, c := range []struct {
		name  string
		calls int
		end   func(key, runID string, gone context.CancelFunc)
	}{
		{"abort", 40, func(key, runID string, _ context.CancelFunc) { abort(t, ctx, w, key, runID) }},
		{"client-gone", 5, func(_, _ string, gone context.CancelFunc) { gone() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := "agent:main:aborted-" + c.name
			turn(t, ctx, w, key, "one")
			before := len(w.Model.Requests())
			for range c.calls {
				w.Model.Push("openai", scripted.Reply{Tool: "memory_recall", Args: map[string]any{"query": "where were we"}})
			}
			w.Model.Push("openai", scripted.Reply{Hang: true})
			run, gone := context.WithCancel(ctx)
			defer gone()
			id := ""
			ended := make(chan struct{})
			if c.name == "abort" {
				id = send(t, ctx, w, key, "many calls")
				close(ended)
			} else {
				go func() { _, _, _ = w.Turn(run, key, "many calls"); close(ended) }()
			}
			hanging(t, ctx, w, before, c.calls+1)
			c.end(key, id, gone)
			<-ended
			eventually(t, 20*time.Second, "the host's run has ended", func() bool {
				r := w.Model.Requests()
				return r[before+c.calls].Status == 499
			})
			turn(t, ctx, w, key, "three")
			turns := sameAsHost(t, ctx, w, key)
			if n := count(turns, `"role":"toolResult"`); n < c.calls {
				t.Errorf("%d tool results are stored of %d calls:\n%s", n, c.calls, listTurns(turns))
			}
		})
	}
}

// A run aborted before any answer leaves a lone user message that the host takes off its path again at the next turn, and puts its
// text in front of that turn's prompt (docs/openclaw.md, 9). What the user said is not lost, and nothing is there twice.
func TestDurableAbortedBeforeAnswer(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, 2*time.Minute)
	key := "agent:main:aborted-unanswered"
	turn(t, ctx, w, key, "one")
	before := len(w.Model.Requests())
	w.Model.Push("openai", scripted.Reply{Hang: true})
	id := send(t, ctx, w, key, "never answered")
	hanging(t, ctx, w, before, 1)
	abort(t, ctx, w, key, id)
	// The strictest kind of model: no two user messages in a row.
	for _, text := range []string{"three", "four"} {
		_, requests, err := w.Turn(ctx, key, text, gateway.WithModel("lab-plain/llama-scripted"))
		if err != nil {
			t.Fatal(err)
		}
		unrefused(t, requests)
		r, shown := requests[0], 0
		for _, m := range r.Messages[:r.PromptIndex+1] {
			if m.Role == "user" && !strings.Contains(m.Text, recallLine) {
				shown += strings.Count(m.Text, "never answered")
			}
		}
		if shown > 1 || shown == 0 && text == "three" {
			t.Errorf("turn %q: the model is shown the unanswered message %d times:\n%s", text, shown, r.Raw)
		}
	}
	turns := sameAsHost(t, ctx, w, key)
	for _, text := range []string{"never answered", "three", "four"} {
		if n := count(turns, `"content":"`+text+`"`); n != 1 {
			t.Errorf("%q is stored %d times:\n%s", text, n, listTurns(turns))
		}
	}
}

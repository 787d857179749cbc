// Demo shows the main job of Skald on the real OpenClaw, step by step, and verifies each step by what the model endpoint and the
// store saw. `make run` runs it. It exits 0 only when every step was verified, and writes .run/report.json.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

//go:embed conversation.jsonl
var conversation []byte

// Report is .run/report.json.
type Report struct {
	OpenClawVersion    string `json:"openclaw_version"`
	DaemonVersion      string `json:"daemon_version"`
	SessionID          string `json:"session_id"`
	TurnsStored        int64  `json:"turns_stored"`
	TurnsEqualBytes    bool   `json:"turns_equal_bytes"`
	ModelRequests      int    `json:"model_requests"`
	RecallSeenByModel  bool   `json:"recall_seen_by_model"`
	Commits            int    `json:"commits"`
	Publications       int    `json:"publications"`
	ExpandedEqualBytes bool   `json:"expanded_equal_bytes"`
	NewSessionRecalled bool   `json:"new_session_recalled"`
	DataDir            string `json:"data_dir"`
}

const (
	mainKey = "agent:main:spoke"
	newKey  = "agent:main:next-week"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	d := &demo{dir: filepath.Join(world.Root(), ".run", "demo")}
	err := d.run(ctx)
	if d.w != nil {
		d.w.Close()
	}
	if werr := d.write(); err == nil {
		err = werr
	}
	if err != nil {
		fmt.Printf("\nFAILED: %v\n(logs and data: %s)\n", err, relative(d.dir))
		os.Exit(1)
	}
	fmt.Printf("\nEvery step was verified. Report: .run/report.json. Data to look at: %s\n", relative(d.report.DataDir))
	fmt.Printf("Try: bin/skald sessions --data %s\n     bin/skald explain %s --data %s\n", relative(d.report.DataDir), d.report.SessionID, relative(d.report.DataDir))
}

func relative(path string) string {
	if rel, err := filepath.Rel(world.Root(), path); err == nil {
		return rel
	}
	return path
}

type demo struct {
	dir    string
	w      *world.World
	report Report
	n      int
	said   []exchange
}

// exchange is a user's text with the reply that was recorded for it.
type exchange struct{ user, reply string }

func (d *demo) step(title string) {
	d.n++
	fmt.Printf("\n%d. %s\n", d.n, title)
}

func say(format string, args ...any) { fmt.Printf("   "+format+"\n", args...) }

func (d *demo) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{d.start, d.talk, d.stored, d.committed, d.pressure, d.expand, d.newSession} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) start(ctx context.Context) error {
	d.step("Start the daemon on an empty store and the real OpenClaw gateway with Skald in its context-engine slot")
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	d.report.DataDir = filepath.Join(d.dir, "skald")
	began := time.Now()
	w, err := world.Start(ctx, world.Options{Dir: d.dir, Primary: "lab-gpt/gpt-scripted",
		AlsoAllow: []string{"memory_recall", "memory_recall_auto", "memory_expand", "memory_store", "memory_forget"}})
	d.w = w
	if err != nil {
		return err
	}
	if d.report.OpenClawVersion, err = hostVersion(); err != nil {
		return err
	}
	status, err := w.Client.Status(ctx, world.Identity)
	if err != nil {
		return err
	}
	d.report.DaemonVersion = status.Version
	say("OpenClaw %s, skald %s, a scripted model with a window of 64,000 tokens; ready after %.0f s",
		d.report.OpenClawVersion, d.report.DaemonVersion, time.Since(began).Seconds())
	return nil
}

// talk plays the recorded conversation through the gateway.
func (d *demo) talk(ctx context.Context) error {
	d.step("Play a recorded conversation through the gateway")
	list, err := read(conversation)
	if err != nil {
		return err
	}
	for _, x := range list {
		d.w.Model.Push("openai", scripted.Reply{Text: x.reply})
		if err := d.say(ctx, mainKey, x.user, x.reply); err != nil {
			return err
		}
	}
	say("%d user turns sent, %d model requests, none refused", len(list), len(d.w.Model.Requests()))
	return nil
}

func read(lines []byte) (list []exchange, err error) {
	scan := bufio.NewScanner(bytes.NewReader(lines))
	for scan.Scan() {
		m, err := message.Parse(scan.Bytes())
		if err != nil {
			return nil, err
		}
		if m.Role == "user" {
			list = append(list, exchange{user: m.Text()})
		} else {
			list[len(list)-1].reply = m.Text()
		}
	}
	return list, scan.Err()
}

// say sends one user turn and checks the reply.
func (d *demo) say(ctx context.Context, key, text, want string) error {
	reply, _, err := d.w.Turn(ctx, key, text)
	if err != nil {
		return err
	}
	if want != "" && reply != want {
		return fmt.Errorf("the reply to %q was %q", text, reply)
	}
	if refused := d.w.Model.Refusals(); len(refused) > 0 {
		return fmt.Errorf("the model endpoint refused a request: %s", refused[0].Refusal)
	}
	if key == mainKey {
		d.said = append(d.said, exchange{text, reply})
	}
	return nil
}

// stored compares what the store holds with what was said, text by text, and with the host's own transcript, byte by byte.
func (d *demo) stored(ctx context.Context) error {
	d.step("Look into the store: every turn is there, byte for byte")
	s, err := d.w.Session(ctx, mainKey)
	if err != nil {
		return err
	}
	d.report.SessionID, d.report.TurnsStored = s.ID, s.Turns
	if err := d.compare(ctx, d.said); err != nil {
		return err
	}
	d.report.TurnsEqualBytes = true
	say("%d turns stored; their bytes equal the %d messages of the host's own transcript", s.Turns, s.Turns)
	return nil
}

func (d *demo) compare(ctx context.Context, said []exchange) error {
	turns, err := d.w.Client.ListTurns(ctx, world.Identity, d.report.SessionID, 0, 0)
	if err != nil {
		return err
	}
	host, err := d.w.Transcript(mainKey)
	if err != nil {
		return err
	}
	if len(host) != len(turns) || len(turns) != 2*len(said) {
		return fmt.Errorf("said %d, the host has %d messages, the store %d", 2*len(said), len(host), len(turns))
	}
	for i, t := range turns {
		if !bytes.Equal(t.Raw, host[i]) {
			return fmt.Errorf("turn %d differs from the host's transcript:\n%s\n%s", i+1, t.Raw, host[i])
		}
		want := said[i/2].user
		if i%2 == 1 {
			want = said[i/2].reply
		}
		if m, err := message.Parse(t.Raw); err != nil || m.Text() != want {
			return fmt.Errorf("turn %d is not what was said: %s", i+1, t.Raw)
		}
	}
	return nil
}

// committed checks that the twentieth user turn has made a commit, and that the model did not notice.
func (d *demo) committed(ctx context.Context) error {
	d.step("A commit: after 20 user turns the open turns were archived, summarised and searched for memories")
	info, err := d.waitArchive(ctx)
	if err != nil {
		return err
	}
	d.report.Commits = info.Archives
	files, err := d.w.Client.List(ctx, world.Identity, "viking://~/memories", 3)
	if err != nil {
		return err
	}
	memories := 0
	for _, f := range files {
		if !f.Dir {
			memories++
		}
	}
	requests := d.w.Model.Requests()
	for i := 1; i < len(requests); i++ {
		if share := scripted.PrefixShare(requests[i-1], requests[i]); share < 1 {
			at, a, b := scripted.FirstDifference(requests[i-1], requests[i])
			return fmt.Errorf("request %d does not begin with request %d up to its prompt (message %d):\n%s\n%s", i+1, i, at, a, b)
		}
	}
	last := requests[len(requests)-1]
	say("%d commit, %d memories; the model's context is unchanged: each of %d requests begins with the one before, up to its prompt", info.Archives, memories, len(requests))
	say("the newest request held %d messages, %d tokens", len(last.Messages), last.EstimatedTokens)
	return nil
}

// pressure fills the window until summaries are published.
func (d *demo) pressure(ctx context.Context) error {
	d.step("Pressure: long logs are pasted until the context reaches its high water mark")
	var before scripted.Request
	const most = 30
	for i := range most {
		reply := fmt.Sprintf("Thanks, part %d is here.", i+1)
		d.w.Model.Push("openai", scripted.Reply{Text: reply})
		if err := d.say(ctx, mainKey, pastedLog(i), reply); err != nil {
			return err
		}
		requests := d.w.Model.Requests()
		now := requests[len(requests)-1]
		info, err := d.w.Session(ctx, mainKey)
		if err != nil {
			return err
		}
		if info.Published > 0 {
			d.report.Publications++
			d.report.Commits = info.Archives
			say("before: %d messages, %d tokens", len(before.Messages), before.EstimatedTokens)
			say("after:  %d messages, %d tokens; turns 1 to %d are now a summary, the newest stay raw", len(now.Messages), now.EstimatedTokens, info.Published)
			return d.summarised(before, now)
		}
		before = now
		if _, err := d.waitArchive(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("no publication after %d long turns", most)
}

func (d *demo) summarised(before, after scripted.Request) error {
	if after.EstimatedTokens >= before.EstimatedTokens {
		return fmt.Errorf("the context did not shrink: %d, then %d tokens", before.EstimatedTokens, after.EstimatedTokens)
	}
	for _, want := range []string{"PostgreSQL 16", "26 hours", "history/archive_"} {
		if !strings.Contains(after.Messages[1].Text, want) {
			return fmt.Errorf("the summary lacks %q:\n%s", want, after.Messages[1].Text)
		}
	}
	say("the summary quotes the decisions (PostgreSQL 16; the reminder, changed to 26 hours) and names the archive that leads back")
	return nil
}

// pastedLog is a long log, different each time.
func pastedLog(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Here is part %d of the box's log:\n", i+1)
	for line := range 60 {
		fmt.Fprintf(&b, "02:%02d:%02d spoke[311]: GET /slots?bay=%d&week=%d 200 %dms\n", i, line%60, line%4, 10+i, 12+(i*37+line*11)%80)
	}
	return b.String()
}

// expand lets the model follow the summary back to a turn.
func (d *demo) expand(ctx context.Context) error {
	d.step("The way back: the model calls memory_expand on the summary and gets the turn verbatim")
	want := "The first customer who tested it was Mr. Solheim, his booking number is SPK-20417."
	uri := "viking://session/" + d.report.SessionID + "/history/archive_001"
	_, requests, err := d.w.Turn(ctx, mainKey, `CALL memory_expand {"uri":"`+uri+`","query":"booking number of the first customer","limit":2}`)
	if err != nil {
		return err
	}
	text := jsonText(want)
	for _, r := range requests {
		for _, m := range r.Messages[min(r.PromptIndex, len(r.Messages)):] {
			if m.ToolResultFor != "" && bytes.Contains(m.Raw, text) {
				d.report.ExpandedEqualBytes = true
			}
		}
	}
	if !d.report.ExpandedEqualBytes {
		return fmt.Errorf("the turn did not come back verbatim; requests: %d, last:\n%s", len(requests), requests[len(requests)-1].Raw)
	}
	say("memory_expand(%q) brought back: %q", "…/history/archive_001", want)
	return nil
}

func jsonText(s string) []byte {
	raw, _ := json.Marshal(s)
	return raw[1 : len(raw)-1]
}

// newSession asks in a new session for a fact of the old one.
func (d *demo) newSession(ctx context.Context) error {
	d.step("A new session: a fact from the old one is recalled, as a visible tool call just before the prompt")
	reply, requests, err := d.w.Turn(ctx, newKey, `How long before the slot does the reminder SMS go out? ANSWER-FROM-CONTEXT Make it \d+ hours`)
	if err != nil {
		return err
	}
	r := requests[0]
	d.report.RecallSeenByModel = r.Contains("memory_recall_auto") || r.Contains("openviking-auto-recall")
	d.report.NewSessionRecalled = reply == "Make it 26 hours" && r.Contains("26 hours")
	if !d.report.RecallSeenByModel || !d.report.NewSessionRecalled {
		return fmt.Errorf("the new session did not recall the fact; reply %q, request:\n%s", reply, r.Raw)
	}
	say("the model was shown %d messages before the prompt (%d tokens) and answered %q", r.PromptIndex, r.EstimatedTokens, reply)
	return nil
}

// waitArchive waits until the newest archive of the main session is summarised.
func (d *demo) waitArchive(ctx context.Context) (info skaldSession, err error) {
	for {
		if info, err = d.w.Session(ctx, mainKey); err != nil {
			return info, err
		}
		status, err := d.w.Client.Status(ctx, world.Identity)
		if err != nil || status.JobsReady == 0 {
			return info, err
		}
		select {
		case <-ctx.Done():
			return info, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *demo) write() error {
	if d.w != nil && d.w.Model != nil {
		d.report.ModelRequests = len(d.w.Model.Requests())
	}
	raw, err := json.MarshalIndent(d.report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(world.Root(), ".run", "report.json"), append(raw, '\n'), 0o644)
}

package hook

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
)

var update = flag.Bool("update", false, "rewrite the golden outputs in testdata")

// golden compares what a hook prints with a file.
func (w *world) golden(name, event, context string) {
	w.t.Helper()
	raw, err := Output{Event: event, Context: context}.JSON()
	if err != nil {
		w.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		w.t.Fatalf("%q: %v", raw, err)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		w.t.Errorf("(-want +got):\n%s", diff)
	}
}

func (w *world) sanctuary() {
	w.t.Helper()
	w.user(firstSession, "Our heron sanctuary opens at 5:44 in the morning.")
	w.reply(firstSession, "msg_1", text("Noted: 5:44."))
	w.fire("Stop")
}

// What one session said comes back in another one, once.
func TestRecallInAnotherSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sanctuary()
	got := w.fire("UserPromptSubmit")
	w.golden("recall.json", "UserPromptSubmit", got)
	w.user(secondSession, "At what time does the heron sanctuary open?")
	w.reply(secondSession, "msg_2", text("At 5:44."))
	w.fire("Stop", within(secondSession), says("At 5:44."))
	if again := w.fire("UserPromptSubmit", asking("So when does the heron sanctuary open in the morning?")); again != "" {
		t.Errorf("recalled a second time in the same session: %s", again)
	}
}

// What stands in the session itself is not recalled there.
func TestNoRecallOfWhatIsVisible(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sanctuary()
	if got := w.fire("UserPromptSubmit", within(firstSession)); got != "" {
		t.Error(got)
	}
}

func TestNoRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sanctuary()
	for _, prompt := range []string{"", "  ", "ok", "thanks!", "/compact", "/heron-sanctuary", "<task-notification>heron sanctuary</task-notification>",
		"Explain quantum chromodynamics"} {
		if got := w.fire("UserPromptSubmit", asking(prompt)); got != "" {
			t.Errorf("%q: %s", prompt, got)
		}
	}
	if got := w.fire("UserPromptSubmit", func(in *Input) { in.AgentID = "a1" }); got != "" {
		t.Errorf("in a sub-agent: %s", got)
	}
}

// After a compaction the session's summaries come back, and its older turns are recalled again.
func TestResumeAfterCompaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.fire("SessionStart"); got != "" {
		t.Errorf("a session without archives resumes with %s", got)
	}
	w.sanctuary()
	for i := range 12 {
		n := string(rune('a' + i))
		w.user(firstSession, "We decided to paint gate "+n+" green. TODO: buy paint for gate "+n+".")
		w.reply(firstSession, "msg_"+n, text("Gate "+n+" will be green."))
	}
	w.fire("PreCompact")
	if err := w.e.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.fire("SessionStart")
	w.golden("resume.json", "SessionStart", got)
	for _, source := range []string{"startup", "clear"} {
		if got := w.fire("SessionStart", func(in *Input) { in.Source = source }); got != "" {
			t.Errorf("%s: %s", source, got)
		}
	}
	if got := w.fire("UserPromptSubmit", within(firstSession)); !strings.Contains(got, "5:44") {
		t.Errorf("a turn from before the compaction is not recalled: %q", got)
	}
}

// However much was archived, the block stays within what the host takes.
func TestResumeFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for a := range 6 {
		for i := range 6 {
			w.user(firstSession, strings.Repeat("We decided on heron plan ", 12)+string(rune('a'+a))+string(rune('a'+i)))
			w.reply(firstSession, string(rune('A'+a))+string(rune('a'+i)), text("Agreed, plan "+string(rune('a'+i))))
		}
		w.fire("PreCompact")
		if err := w.e.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := w.fire("SessionStart")
	if n := len([]rune(got)); n > maxContext || n < 2000 {
		t.Errorf("%d characters", n)
	}
	for _, want := range []string{"archive_001", "archive_006"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not named", want)
		}
	}
}

// A recall that fails is an error for the log, not for the agent.
func TestRecallFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.h.Identity = skald.Identity{}
	if _, err := w.h.Run(t.Context(), Input{Event: "UserPromptSubmit", Prompt: "herons?"}); skald.KindOf(err) != skald.KindInvalid {
		t.Error(err)
	}
}

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
)

// fact is told in one session and asked for in others.
type fact struct{ said, asked, answer string }

var facts = []fact{
	{"The lighthouse at Karsholm was painted by Ingrid Halvorsen in the spring of 1987.", "Who painted the lighthouse at Karsholm?", "Ingrid Halvorsen"},
	{"Our staging database listens on port 47113 behind the bastion host.", "On which port does our staging database listen?", "47113"},
	{"我们的周会定在每个星期三下午三点半，地点是蓝色会议室。", "我们的周会定在星期几，在哪个会议室？", "蓝色会议室"},
	{"The spare key of the boat house hangs behind the green barometer.", "Where does the spare key of the boat house hang?", "green barometer"},
	{"The veterinarian of our dog Bramble is Doctor Okonkwo in Mill Lane.", "What is the name of the veterinarian of our dog Bramble?", "Okonkwo"},
	{"项目代号是青铜海豚，负责人是赵立新。", "青铜海豚项目的负责人是谁？", "赵立新"},
	{"The quarterly invoice of the print shop Fennimore was 3,912 euros.", "How high was the quarterly invoice of the print shop Fennimore?", "3,912"},
	{"The sourdough starter in the cellar is called Methuselah and is fed on Sundays.", "What is the sourdough starter in the cellar called?", "Methuselah"},
	{"The backup tapes of the observatory are stored in the vault at Lindenau.", "In which vault are the backup tapes of the observatory stored?", "Lindenau"},
	{"Aunt Rosalind's allergy is against hazelnuts, never against almonds.", "Against what is aunt Rosalind's allergy?", "hazelnuts"},
}

// profileCases say which form a recall takes with recallForm auto. The tool pair is fit where the family accepts calls that the model
// did not make (docs/openclaw.md, 17 to 20). Two profiles leave out calls with which the host itself breaks the provider's rules: see
// TestHostAlone.
var profileCases = []struct {
	profile, model, form string
	turns                int // in the short form
	without              string
}{
	{"openai", "lab-gpt/gpt-scripted", "tool", 50, ""},
	{"openai-thinking", "lab-deepseek/deepseek-scripted", "text", 12, ""},
	{"anthropic", "lab-claude/claude-scripted", "tool", 50, ""},
	{"anthropic-thinking", "lab-claude-think/claude-thinking", "tool", 12, "CALLS 2"},
	{"gemini", "lab-gemini/gemini-scripted", "tool", 12, ""},
	{"gemini-signed", "lab-gemini-think/gemini-signed", "tool", 12, "CALL"},
	{"mistral", "lab-mistral/mistral-scripted", "tool", 12, ""},
	{"strict-alternation", "lab-plain/llama-scripted", "text", 12, ""},
	{"no-tools", "lab-bare/bare-scripted", "text", 12, ""},
}

// TestProfiles: with recallForm auto no provider profile refuses a request in 50 turns with recall, calls, small talk and Chinese, and
// the tool pair is used where it is fit (000-070, 000-071, 000-124, 000-160).
func TestProfiles(t *testing.T) {
	w := shared(t)
	ctx := deadline(t, 20*time.Minute)
	teller := newTalk(t, ctx, w, "profile-facts")
	for _, f := range facts {
		teller.say(f.said)
	}
	for _, c := range profileCases {
		t.Run(c.profile, func(t *testing.T) {
			began := time.Now()
			s := newTalk(t, ctx, w, "profile-"+c.profile, gateway.WithModel(c.model))
			turns := c.turns
			if long() {
				turns = 50
			}
			asked, seen := 0, map[string]int{}
			for i := range turns {
				text, f := profileTurn(i, &asked)
				if c.without != "" && strings.Contains(text, c.without) || c.without == "CALL" && strings.Contains(text, "PARALLEL") {
					text = "ok, thanks"
				}
				r := s.first(text)
				if r.Profile != c.profile {
					t.Fatalf("the turn went to profile %s", r.Profile)
				}
				seen[recallForm(r)]++
				if f != nil {
					s.checkRecall(t, r, *f, c.form)
				}
				if strings.HasPrefix(text, "hello") && recallForm(r) != "" {
					t.Errorf("a greeting got a recall:\n%s", recalled(r))
				}
			}
			unrefused(t, s.requests)
			publications := s.stable()
			if other := map[string]string{"tool": "text", "text": "tool"}[c.form]; seen[other] > 0 || seen[c.form] < 3 {
				t.Errorf("forms of the recalls: %v, want %s", seen, c.form)
			}
			stored := s.turns()
			t.Logf("%d turns, %d requests, %d stored, %d publications, recalls %v, thinking enabled %v, tools %d, %.0f s", turns, len(s.requests),
				len(stored), publications, seen, s.requests[len(s.requests)-1].ThinkingEnabled, len(s.requests[0].Tools), time.Since(began).Seconds())
		})
	}
	if misses := w.Model.Misses(); len(misses) > 0 {
		t.Errorf("requests to unknown paths: %v", misses)
	}
}

// checkRecall: the fact stands before the prompt; in the profile's form when this turn recalled it.
func (c *talk) checkRecall(t *testing.T, r scripted.Request, f fact, form string) {
	t.Helper()
	if !r.Contains(f.answer) && strings.Contains(c.explain().Recall.Skipped, "no room") {
		t.Logf("%q: the share for recalls is used up until the next publication", f.asked)
		return
	}
	if !r.Contains(f.answer) {
		t.Errorf("%q: the model was not shown %q; recall form %q, skipped %q:\n%s", f.asked, f.answer, recallForm(r), c.explain().Recall.Skipped, short(recalled(r)))
		return
	}
	if strings.Contains(recalled(r), f.answer) && recallForm(r) != form {
		t.Errorf("%q: the recall came as %q, want %q", f.asked, recallForm(r), form)
	}
}

// profileTurn is the text of turn i, and the fact that it asks for.
func profileTurn(i int, asked *int) (string, *fact) {
	switch i % 10 {
	case 0, 4, 9:
		f := facts[*asked%len(facts)]
		*asked++
		if *asked <= len(facts) {
			return f.asked, &f
		}
		return f.asked, nil // it stands in the conversation already, or was asked before
	case 1:
		return fmt.Sprintf("The weather turned grey again, number %d of the grey days. I made soup with barley.", i), nil
	case 2:
		return "hello", nil
	case 3:
		return `CALL memory_recall {"query":"barometer of the boat house"}`, nil
	case 5:
		return fmt.Sprintf("今天的天气很好，我去公园散步了，第%d次。", i), nil
	case 6:
		return `CALLS 2 memory_recall_auto {"query":"the vault at Lindenau"}`, nil
	case 7:
		return `PARALLEL 2 memory_recall {"query":"青铜海豚"}`, nil
	}
	return fmt.Sprintf("THINK about a walk on the shore, part %d. LONG 60", i), nil
}

// TestHostAlone documents two refusals that are the host's own doing: they come without any message of ours (docs/openclaw.md, 37 and 38).
// When the host learns better, this test fails, and TestProfiles can ask for these calls too.
func TestHostAlone(t *testing.T) {
	w, ctx := shared(t), deadline(t, 3*time.Minute)
	for _, c := range []struct{ profile, model, prompt, refusal string }{
		{"anthropic-thinking", "lab-claude-think/claude-thinking", `CALLS 2 memory_recall {"query":"qqqzzz"}`, "Expected `thinking`"},
		{"gemini-signed", "lab-gemini-think/gemini-signed", `CALL memory_recall {"query":"qqqzzz"}`, "missing a thought_signature"},
	} {
		t.Run(c.profile, func(t *testing.T) {
			// A group session finds nothing in other sessions, so that it gets neither first message nor recall.
			_, requests, _ := w.Turn(ctx, "agent:main:telegram:group:alone-"+c.profile, c.prompt, gateway.WithModel(c.model))
			refused := ""
			for _, r := range requests {
				if r.Contains("[skald]") || recalls(r) > 0 {
					t.Errorf("a message of ours is in the request: %s", short(string(r.Raw)))
				}
				refused += r.Refusal
			}
			if !strings.Contains(refused, c.refusal) {
				t.Errorf("the host is not refused any more (%d requests, %q): ask for these calls in TestProfiles too", len(requests), refused)
			}
		})
	}
}

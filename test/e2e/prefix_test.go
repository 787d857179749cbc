package e2e

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"testing"
	"time"

	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
)

// pixel is a valid PNG of one pixel.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// TestPrefix: on both kinds of API request N up to its prompt is an exact prefix of request N+1, with recalls, calls, images and a
// commit in between (000-066, 000-067; design, "assemble"), and all requests of one turn show the same before the prompt.
func TestPrefix(t *testing.T) {
	w := shared(t)
	for _, c := range []struct{ name, model string }{
		{"openai", "lab-gpt/gpt-vision"},
		{"anthropic", "lab-claude/claude-vision"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := deadline(t, 6*time.Minute)
			teller := newTalk(t, ctx, w, "prefix-told-"+c.name, gateway.WithModel(c.model))
			teller.say("The rehearsal of the choir " + c.name + " takes place in the chapel of Dunmore.")
			newTalk(t, ctx, w, "prefix-told-too-"+c.name, gateway.WithModel(c.model)).say("The bicycle pump hangs in the shed of farmer Quistgaard.")
			s := newTalk(t, ctx, w, "prefix-"+c.name, gateway.WithModel(c.model))
			s.say("Good to see you, let us plan the week.")
			s.say("Where does the rehearsal of the choir " + c.name + " take place?")
			s.say(`CALLS 2 memory_recall {"query":"rehearsal"}`)
			s.say("Look at this picture of the poster, please.", gateway.WithImage("image/png", pixel))
			if r := s.first("THINK about the poster. LONG 50"); !bytes.Contains(r.Raw, []byte(base64.StdEncoding.EncodeToString(pixel))) {
				t.Error("the image is not shown in the turn after it")
			}
			s.say("In whose shed does the bicycle pump hang?")
			s.say(`PARALLEL 2 memory_recall {"query":"bicycle pump"}`)
			if r := s.commit(); !r.Archived {
				t.Fatalf("nothing was archived: %s", r.Reason)
			}
			s.say("And what did we say about the poster?")
			s.say("谢谢，下周见。")
			unrefused(t, s.requests)
			removed := prefixesButImages(t, s.requests)
			sameInTurn(t, s.requests)
			last := s.requests[len(s.requests)-1]
			if recalls(last) < 2 {
				t.Errorf("%d recalls stand in the last request, want at least the 2 of the questions", recalls(last))
			}
			if removed != 1 {
				t.Errorf("the host removed the image %d times from the history, want once (docs/openclaw.md, 35)", removed)
			}
			heads(t, s.requests)
			t.Logf("%d requests, prefix share 1 but for the image, %d recalls standing, %.0f %% of the last prompt cached", len(s.requests), recalls(last),
				100*float64(last.CachedTokens)/float64(max(1, last.PromptTokens)))
		})
	}
}

// removedImage is what the host puts in the place of an image after three more turns, by itself (docs/openclaw.md, 35).
const removedImage = `{"text":"[image data removed - already processed by model]","type":"text"}`

var imagePart = regexp.MustCompile(`\{"image_url":\{"url":"data:[^"]*"\},"type":"image_url"\}|\{"source":\{"data":"[^"]*","media_type":"image/png","type":"base64"\},"type":"image"\}`)

// prefixesButImages is prefixes, apart from images that the host removes. It returns how often it did.
func prefixesButImages(t *testing.T, requests []scripted.Request) (removed int) {
	t.Helper()
	for i := 1; i < len(requests); i++ {
		if scripted.PrefixShare(requests[i-1], requests[i]) == 1 {
			continue
		}
		removed++
		a, b := requests[i-1].UpToPrompt(), requests[i].UpToPrompt()
		for j := range a {
			if j < len(b) && bytes.Equal(imagePart.ReplaceAll(a[j], []byte(removedImage)), imagePart.ReplaceAll(b[j], []byte(removedImage))) {
				continue
			}
			prefixes(t, requests[i-1:i+1])
			return removed
		}
	}
	return removed
}

// sameInTurn: the requests of one turn have the same bytes before the prompt; there is a turn with three.
func sameInTurn(t *testing.T, requests []scripted.Request) {
	t.Helper()
	most, run := 0, 1
	for i := 1; i < len(requests); i++ {
		a, b := requests[i-1], requests[i]
		if a.Prompt != b.Prompt {
			run = 1
			continue
		}
		run++
		most = max(most, run)
		if one, two := a.UpToPrompt(), b.UpToPrompt(); len(one) != len(two) || scripted.PrefixShare(a, b) < 1 {
			at, x, y := scripted.FirstDifference(a, b)
			t.Errorf("two requests of the turn %q differ before the prompt (%d and %d messages, first at %d):\n%s\n%s", short(a.PromptText()),
				len(one), len(two), at, short(string(x)), short(string(y)))
		}
	}
	if most < 3 {
		t.Errorf("at most %d requests in a turn, want 3", most)
	}
}

// heads: tools and system prompt stay the same, our addition to it included.
func heads(t *testing.T, requests []scripted.Request) {
	t.Helper()
	for i := 1; i < len(requests); i++ {
		if !bytes.Equal(requests[0].Head(), requests[i].Head()) {
			t.Errorf("the head of request %d differs from the first one's", i+1)
			return
		}
	}
	if !bytes.Contains(requests[0].Head(), []byte("Earlier conversations are kept by Skald")) {
		t.Error("the system prompt lacks our addition")
	}
}

package archive_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/message"
)

// transcript reads a shared transcript, or skips the test where there is none: they are not part of the repository.
func transcript(t testing.TB, name string) []skald.Turn {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(transcriptDir(), name))
	if err != nil {
		t.Skipf("shared transcripts are absent (set SKALD_TRANSCRIPTS): %v", err)
	}
	var out []skald.Turn
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		m, err := message.Parse(sc.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		turn := skald.Turn{Seq: int64(len(out) + 1), Epoch: 1, Time: m.Timestamp, Role: m.SkaldRole(), Raw: bytes.Clone(sc.Bytes()),
			Tokens: message.Tokens(sc.Bytes()), Audience: skald.AudienceDirect, Origin: originOf(m.SkaldRole())}
		if turn.Time.IsZero() {
			turn.Time = time.Date(2026, 3, 2, 9, len(out), 0, 0, time.UTC)
		}
		out = append(out, turn)
	}
	return out
}

func transcriptDir() string {
	if d := os.Getenv("SKALD_TRANSCRIPTS"); d != "" {
		return d
	}
	return filepath.Join("..", "..", "shared", "data", "transcripts")
}

func originOf(r skald.Role) skald.Origin {
	switch r {
	case skald.RoleUser:
		return skald.OriginOwner
	case skald.RoleAssistant:
		return skald.OriginAgent
	case skald.RoleTool:
		return skald.OriginTool
	}
	return skald.OriginSystem
}

// TestTranscripts logs what share of the facts' answer words the overview holds; sizes are checked.
func TestTranscripts(t *testing.T) {
	for _, name := range []string{"hand-tidepool", "beam-dev-0", "zh-dev-0", "swe-marshmallow-1867", "swe-humanevalfix-python-0"} {
		t.Run(name, func(t *testing.T) {
			stored := transcript(t, name+".jsonl")
			total := 0
			for _, s := range stored {
				total += s.Tokens
			}
			sum, err := archive.Builtin{}.Summarise(context.Background(), archive.Input{Turns: archive.Turns(stored)})
			if err != nil {
				t.Fatal(err)
			}
			a := skald.Archive{Index: 1, From: 1, To: int64(len(stored)), Overview: sum.Overview, Abstract: sum.Abstract}
			text := archive.Text(a)
			t.Logf("source %d tokens, overview %d", total, message.TextTokens(text))
			if n := message.TextTokens(text); n > archive.Size(total) {
				t.Errorf("the overview has %d tokens, more than %d", n, archive.Size(total))
			}
			t.Logf("abstract: %s\n%s", sum.Abstract, text)
			share(t, name, text)
		})
	}
}

// share logs which facts' answer words a text holds.
func share(t *testing.T, name, text string) {
	raw, err := os.ReadFile(filepath.Join(transcriptDir(), name+".facts.json"))
	if err != nil {
		return
	}
	var facts []struct{ Question, Answer string }
	if err := json.Unmarshal(raw, &facts); err != nil {
		t.Fatal(err)
	}
	lower, hit, all := strings.ToLower(text), 0, 0
	for _, f := range facts {
		var lost []string
		for w := range strings.FieldsFuncSeq(strings.ToLower(f.Answer), func(r rune) bool { return strings.ContainsRune(" ,;,;。()()'“”、", r) }) {
			if len(w) < 3 {
				continue
			}
			if all++; strings.Contains(lower, w) {
				hit++
			} else {
				lost = append(lost, w)
			}
		}
		if len(lost) > 0 {
			t.Logf("%s: lost %q", f.Question, lost)
		}
	}
	t.Logf("%d of %d answer words: %.0f %%", hit, all, 100*float64(hit)/float64(all))
}

// TestTranscriptRecall logs what overview and memories hold together.
func TestTranscriptRecall(t *testing.T) {
	stored := transcript(t, "hand-tidepool.jsonl")
	w := newWorld(t)
	w.add(stored...)
	w.close("compact")
	w.drain(w.runner(nil, memory.Builtin{}))
	text := archive.Text(w.archive(1))
	w.update(func(tx skald.Tx) error {
		list, err := tx.Memories(skald.MemoryQuery{Scopes: skald.Policy{}.Readable(skald.DefaultIdentity)})
		for _, m := range list {
			t.Logf("%s %s", m.Type, m.Text)
			text += m.Text + "\n"
		}
		return err
	})
	share(t, "hand-tidepool", text)
}

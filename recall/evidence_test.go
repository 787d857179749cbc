package recall_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/static"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/store/memory"
)

// conversation is one line of the evidence data, which lies outside the repository.
type conversation struct {
	ID       string `json:"id"`
	Sessions []struct {
		ID        string `json:"id"`
		StartedAt string `json:"started_at"`
		Messages  []struct {
			ID, Role, Name, Text, Caption string
		} `json:"messages"`
	} `json:"sessions"`
	Questions []struct {
		ID, Category, Question string
		Evidence               []string
	} `json:"questions"`
}

func readEvidence(t *testing.T, name string) []conversation {
	t.Helper()
	dir := os.Getenv("SKALD_EVIDENCE")
	if dir == "" {
		dir = "../../shared/data/evidence"
	}
	f, err := os.Open(filepath.Join(dir, name+".jsonl.gz"))
	if err != nil {
		t.Skipf("no evidence data: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []conversation
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var c conversation
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// ingest stores a conversation's turns with their documents, as the engine's write path does.
func ingest(t *testing.T, c conversation) (skald.Store, time.Time, map[string]string) {
	t.Helper()
	store, texts := memory.New(), map[string]string{}
	if on, err := strconv.ParseBool(os.Getenv("SKALD_MEANING")); err != nil || on {
		store = meaning.New(store, meaning.Options{Model: static.Table{}})
	}
	var last time.Time
	for _, s := range c.Sessions {
		at, err := time.Parse(time.RFC3339, s.StartedAt)
		if err != nil {
			at, err = time.Parse("2006-01-02T15:04:05", s.StartedAt)
		}
		if err != nil {
			at, _ = time.Parse("2006-01-02", s.StartedAt[:10])
		}
		ref := skald.SessionRef{Scope: userScope, ID: sessionUUID(c.ID + s.ID)}
		var turns []skald.Turn
		var docs []skald.Doc
		for i, m := range s.Messages {
			texts[m.ID] = m.Text
			text := m.Text
			if m.Caption != "" {
				text += " [image: " + m.Caption + "]"
			}
			turn := skald.Turn{Seq: int64(i + 1), Epoch: 1, Time: at.Add(time.Duration(i) * time.Second), Role: skald.RoleUser,
				Origin: skald.OriginOwner, Audience: skald.AudienceDirect, Speaker: m.Name, Raw: message.User(text, 1)}
			if m.Role == "assistant" {
				turn.Role, turn.Origin = skald.RoleAssistant, skald.OriginAgent
				turn.Raw = message.Assistant(text, 1)
			}
			parsed, _ := message.Parse(turn.Raw)
			turns, docs = append(turns, turn), append(docs, index.DocsOfTurn(ref, turn, parsed)...)
			last = turn.Time
		}
		err = store.Update(context.Background(), func(tx skald.Tx) error {
			if err := tx.PutSession(skald.Session{Ref: ref, LastSeq: int64(len(turns))}); err != nil {
				return err
			}
			if err := tx.AppendTurns(ref, turns); err != nil {
				return err
			}
			return tx.PutDocs(docs)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return store, last.AddDate(0, 0, 1), texts
}

// TestEvidence logs how much of the evidence recall alone puts in front of the model. It asserts nothing: bench/ measures the engine. Every
// 20th question is asked; SKALD_EVIDENCE_EVERY=1 asks all, SKALD_EVIDENCE_SETS names other sets, SKALD_EVIDENCE another
// folder; SKALD_EVIDENCE_PART=first or last asks in that half of the conversations only, SKALD_MEANING=false searches by words alone.
// SKALD_EVIDENCE_FILES=2000 puts so many files beside each conversation, cut out of the other ones: what they drown shows.
func TestEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	every := 20
	if n, err := strconv.Atoi(os.Getenv("SKALD_EVIDENCE_EVERY")); err == nil && n > 0 {
		every = n
	}
	sets := []string{"locomo-dev", "zh-dev"}
	if s := os.Getenv("SKALD_EVIDENCE_SETS"); s != "" {
		sets = strings.Split(s, ",")
	}
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			evidence(t, set, every)
		})
	}
}

// part is the half of the conversations that is asked for: ranking is tuned on the first ones and checked on the last.
func part(list []conversation) []conversation {
	half := (len(list) + 1) / 2
	switch os.Getenv("SKALD_EVIDENCE_PART") {
	case "first":
		return list[:half]
	case "last":
		return list[half:]
	}
	return list
}

// shelve puts files into a store that are made of the conversations but one, ten messages each.
func shelve(t *testing.T, store skald.Store, all []conversation, but string) {
	t.Helper()
	left, _ := strconv.Atoi(os.Getenv("SKALD_EVIDENCE_FILES")) // 0 when it is not set
	w := &world{t, store, nil}
	for _, c := range all {
		for _, s := range c.Sessions {
			for from := 0; c.ID != but && from < len(s.Messages) && left > 0; from, left = from+10, left-1 {
				var b strings.Builder
				for _, m := range s.Messages[from:min(len(s.Messages), from+10)] {
					b.WriteString(m.Text + "\n")
				}
				w.file(sharedScope, fmt.Sprintf("%s/%s-%d.md", c.ID, s.ID, from), b.String())
			}
		}
	}
}

var evidenceBudgets = []int{500, 2000}

func evidence(t *testing.T, set string, every int) {
	sums := make([]float64, len(evidenceBudgets))
	tokens := make([]int, len(evidenceBudgets))
	out := make([]bytes.Buffer, len(evidenceBudgets))
	n, asked := 0, 0
	all := readEvidence(t, set)
	for _, c := range part(all) {
		store, now, texts := ingest(t, c)
		shelve(t, store, all, c.ID)
		for _, q := range c.Questions {
			if asked++; asked%every != 0 || len(q.Evidence) == 0 {
				continue
			}
			n++
			for i, budget := range evidenceBudgets {
				shown := ask(t, store, q.Question, budget, now)
				line, _ := json.Marshal(map[string]any{"question_id": q.ID, "context": shown})
				out[i].Write(append(line, '\n'))
				tokens[i] += message.TextTokens(shown)
				for _, e := range q.Evidence {
					if present(texts[e], shown) {
						sums[i] += 1 / float64(len(q.Evidence))
					}
				}
			}
		}
	}
	for i, budget := range evidenceBudgets {
		t.Logf("%s, %d tokens: evidence recall %.1f %%, %d tokens on average, %d questions", set, budget, 100*sums[i]/float64(n),
			tokens[i]/n, n)
		if dir := os.Getenv("SKALD_EVIDENCE_OUT"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.jsonl", set, budget)), out[i].Bytes(), 0o600)
		}
	}
}

func ask(t *testing.T, store skald.Store, question string, budget int, now time.Time) string {
	t.Helper()
	var shown string
	err := store.View(context.Background(), func(tx skald.Tx) error {
		res, err := recall.Recall(context.Background(), tx, recall.Request{Query: question, Scopes: everyScope, Owner: true,
			Audience: skald.AudienceDirect, Session: skald.SessionRef{Scope: userScope, ID: "asking"}, Budget: budget - 20, Now: now})
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(recall.Render(res.Items))
		shown = b.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// present is a rough form of the measuring tool's rule: a short message whole, of a long one any 200 characters in a row.
func present(text, shown string) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	text = fold(text)
	shown = fold(strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\\`, `\`).Replace(shown))
	if len(text) <= 600 {
		return strings.Contains(shown, text)
	}
	for i := 0; i+200 <= len(text); i += 20 {
		if strings.Contains(shown, text[i:i+200]) {
			return true
		}
	}
	return false
}

// sessionUUID makes a session id of the host's usual form.
func sessionUUID(name string) string {
	h := skald.SessionID("", name)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:32]
}

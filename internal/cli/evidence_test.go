package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/recall"
)

const harbour = `{"id":"a","sessions":[
 {"id":"1","started_at":"2025-03-01","messages":[{"id":"1:1","role":"user","text":"The boathouse key hangs behind the barometer."},
  {"id":"1:2","role":"assistant","text":"Noted."},{"id":"1:3","role":"user","text":"The ferry leaves at nine on Mondays."}]},
 {"id":"2","started_at":"2025-04-01","messages":[{"id":"2:1","role":"user","text":"The ferry now leaves at ten on Mondays."},{"id":"2:2","role":"assistant","text":"Thanks."}]}],
 "questions":[{"id":"a1","category":"single-hop","question":"Where does the boathouse key hang?","answer":"behind the barometer","evidence":["1:1"]},
 {"id":"a2","category":"knowledge-update","question":"When does the ferry leave?","answer":"at ten","evidence":["1:3","2:1"]},
 {"id":"a3","category":"no-answer","question":"Which school did my aunt visit?","answer":"","evidence":[]}]}`

const garden = `{"id":"b","sessions":[{"id":"1","started_at":"2025-03-01","messages":[{"id":"1:1","role":"user","text":"My tortoise eats dandelions."},
  {"id":"1:2","role":"assistant","text":"Good for it."}]}],"questions":[{"id":"b1","category":"single-hop","question":"What does my tortoise eat?",
  "answer":"dandelions","evidence":["1:1"]}]}`

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "") }

func evidenceFile(t *testing.T, lines ...string) string {
	path := filepath.Join(t.TempDir(), "data.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The whole of bench evidence on two small conversations: every measure is there.
func TestBenchEvidence(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "contexts.jsonl")
	code, stdout, stderr := call(t.Context(), "bench", "evidence", "--data", evidenceFile(t, oneLine(harbour), oneLine(garden)), "--budget", "500",
		"--mid-session", "--ablation", "--out", out, "--json")
	var r evidence.Report
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	if r.Questions != 3 || r.Recall != 1 || r.AnswerWords != 1 || r.RecallAt10 != 1 || r.ByCategory["single-hop"].Questions != 2 || r.NotScored != 0 {
		t.Errorf("%+v", r)
	}
	if h := r.Halves; h == nil || h.First.Questions != 2 || h.Last.Questions != 1 {
		t.Errorf("halves %+v", h)
	}
	if n := r.NoEvidence; n.Questions != 1 || n.Share > 1 {
		t.Errorf("nothing answers: %+v", n)
	}
	if n := r.SmallTalk; n == nil || n.Questions < 40 || n.Silent == 0 {
		t.Errorf("small talk: %+v", n)
	}
	if s := r.Superseded; s == nil || s.Questions != 1 || s.Old != 1 || s.Newest != 1 {
		t.Errorf("superseded: %+v", s)
	}
	if m := r.MidSession; m == nil || m.Questions != 3 || m.New != 1 || m.Turns == 0 {
		t.Errorf("mid-session: %+v", m)
	}
	if len(r.Ablation) != len(recall.Stages()) || r.Ablation[0].Questions != 3 {
		t.Errorf("ablation: %+v", r.Ablation)
	}
	if r.IndexBytes == 0 || r.StoreBytes < r.IndexBytes || r.Turns != 7 || r.Assemble.P95 == 0 || r.RecallTime.P95 == 0 {
		t.Errorf("cost: %d of %d bytes, %d turns", r.IndexBytes, r.StoreBytes, r.Turns)
	}
	if lines, err := os.ReadFile(out); err != nil || strings.Count(string(lines), "\n") != 4 {
		t.Errorf("%v: %s", err, lines)
	}
}

// A file whose evidence and answers were stripped is asked all the same.
func TestBenchEvidenceStripped(t *testing.T) {
	t.Parallel()
	stripped := oneLine(garden)
	stripped = stripped[:strings.Index(stripped, `,  "answer"`)] + "}]}"
	code, stdout, stderr := call(t.Context(), "bench", "evidence", "--data", evidenceFile(t, stripped), "--without", "meaning, near", "--json")
	var r evidence.Report
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	if r.NotScored != 1 || r.Questions != 0 || r.NoEvidence.Questions != 0 || r.Halves != nil {
		t.Errorf("%+v", r)
	}
	if c := strings.Join(r.Configured, "|"); !strings.Contains(c, "without meaning|without near") {
		t.Errorf("configuration %s", c)
	}
	if code, _, _ := call(t.Context(), "bench", "evidence", "--data", evidenceFile(t, stripped), "--without", "luck"); code == 0 {
		t.Error("an unknown stage is accepted")
	}
}

package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// expectations are the shapes of a suite's answers by step, in a file that the real server wrote (-update) and a person read.
type expectations struct {
	file  string
	steps map[string]any
}

func readExpectations(t *testing.T, file string) expectations {
	t.Helper()
	e := expectations{file: file, steps: map[string]any{}}
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) && *update {
		return e
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &e.steps); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return e
}

func (e expectations) write(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(e.steps); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rule explains a difference of Skald: testdata/differences.txt holds one a line, `suite: step | difference | why`, the first two as globs.
type rule struct {
	step, difference, why string
	used                  bool
}

func readRules(t *testing.T, suite string) (rules []*rule) {
	t.Helper()
	b, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		name, step, ok := strings.Cut(fields[0], ": ")
		if len(fields) != 3 || !ok {
			t.Fatalf("differences.txt: %q is not `suite: step | difference | why`", line)
		}
		if name == suite {
			rules = append(rules, &rule{step: step, difference: fields[1], why: fields[2]})
		}
	}
	return rules
}

func (r *rule) explains(step, difference string) bool {
	return glob(r.step, step) && glob(r.difference, difference)
}

// glob matches with * for any text.
func glob(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	if rest == "" {
		return true
	}
	for i := range len(text) + 1 {
		if glob(rest, text[i:]) {
			return true
		}
	}
	return false
}

// explain drops the differences that rules explain.
func explain(rules []*rule, step string, differences []string) (left []string) {
	for _, d := range differences {
		i := slices.IndexFunc(rules, func(r *rule) bool { return r.explains(step, d) })
		if i < 0 {
			left = append(left, d)
			continue
		}
		rules[i].used = true
	}
	return left
}

// stale fails on explanations of what does not differ any more.
func stale(t *testing.T, rules []*rule) {
	t.Helper()
	for _, r := range rules {
		if !r.used {
			t.Errorf("differences.txt explains %q of %q, which does not differ: take the line out", r.difference, r.step)
		}
	}
}

// unserved tells an answer with which Skald says that it does not have an endpoint.
func unserved(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	e, ok := m["error"].(map[string]any)
	return ok && path.Base(strings.TrimPrefix(stringOf(e["code"]), "=")) == "UNIMPLEMENTED"
}

func stringOf(v any) string { s, _ := v.(string); return s }

package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skald-engine/skald/test/openviking"
)

// driven is what a run of testdata/drive.py said.
type driven struct {
	methods []string
	steps   []driveStep
}

type driveStep struct {
	Step    string `json:"step"`
	Method  string `json:"method"`
	Result  any    `json:"result"`
	Error   any    `json:"error"`
	Message string `json:"message"`
}

func (s driveStep) answer() any {
	if s.Error != nil {
		return map[string]any{"error": s.Error}
	}
	return map[string]any{"result": s.Result}
}

// drive runs the SDK's client of a kind (sync, async) through every method it has.
func drive(t *testing.T, venv, kind string, s target) driven {
	t.Helper()
	python := filepath.Join(venv, "bin", "python")
	cmd := exec.CommandContext(t.Context(), python, "testdata/drive.py", kind, s.url, s.user, s.root, t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("drive.py: %v\n%s", err, errs.String())
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 16<<20)
	var d driven
	for lines.Scan() {
		var line struct {
			Methods []string `json:"methods"`
			driveStep
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("drive.py said %q: %v", lines.Text(), err)
		}
		if line.Methods != nil {
			d.methods = line.Methods
			continue
		}
		d.steps = append(d.steps, line.driveStep)
	}
	if lines.Err() != nil || len(d.steps) == 0 {
		t.Fatalf("drive.py: %v, %d steps\n%s", lines.Err(), len(d.steps), errs.String())
	}
	return d
}

// complete fails on a method without a call, and on a call of a method that is gone.
func (d driven) complete(t *testing.T) {
	t.Helper()
	called := map[string]bool{}
	for _, s := range d.steps {
		called[s.Method] = true
	}
	for _, m := range d.methods {
		if !called[m] {
			t.Errorf("the SDK has a method %s that no case of drive.py calls", m)
		}
	}
	for m := range called {
		if !slices.Contains(d.methods, m) {
			t.Errorf("drive.py calls %s, which the SDK does not have", m)
		}
	}
}

// kinds are the SDK's clients; one list of cases drives both.
var kinds = []string{"sync", "async"}

// TestSDKOnOpenViking: the expectations are what the real server answers, to either client.
func TestSDKOnOpenViking(t *testing.T) {
	venv := openviking.Venv(t)
	expected := readExpectations(t, "testdata/sdk.json")
	if *update {
		expected.steps = map[string]any{}
	}
	list := kinds
	if !*update && os.Getenv("SKALD_CONFORMANCE_LONG") == "" {
		list = kinds[:1] // both are one code with one server; TestSDKOnSkald drives both
	}
	for _, kind := range list {
		t.Run(kind, func(t *testing.T) {
			d := drive(t, venv, kind, realTarget(t))
			d.complete(t)
			for _, s := range d.steps {
				have := Shape(s.answer())
				if want, there := expected.steps[s.Step]; *update {
					if there {
						have = merge(want, have)
					}
					expected.steps[s.Step] = have
				} else if list := Differences("$", want, have); len(list) > 0 {
					t.Errorf("%s: %q (%s)", s.Step, list, s.Message)
				}
			}
		})
	}
	if *update {
		expected.write(t)
	}
}

// TestSDKOnSkald: every method of either client gets from Skald what it gets from OpenViking, or the difference is explained.
func TestSDKOnSkald(t *testing.T) {
	venv := openviking.Venv(t)
	expected, rules := readExpectations(t, "testdata/sdk.json"), readRules(t, "sdk")
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			d := drive(t, venv, kind, skaldTarget(t))
			d.complete(t)
			for _, s := range d.steps {
				have := Shape(s.answer())
				if unserved(have) {
					t.Logf("%s: 501", s.Step)
					continue
				}
				list := explain(rules, s.Step, Differences("$", expected.steps[s.Step], have))
				if len(list) > 0 {
					t.Errorf("%s: %q (%s)", s.Step, list, s.Message)
				}
			}
		})
	}
	stale(t, rules)
}

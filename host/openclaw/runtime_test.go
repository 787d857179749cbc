package openclaw

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRuntimes(t *testing.T) {
	t.Parallel()
	const config = `{"models": {"providers": {"anthropic": {"agentRuntime": {"id": "claude-cli"}, "models": [{"id": "m", "agentRuntime": {"id": "Codex "}}]}}},
		"agents": {"entries": {"a": {"models": {"x/y": {"agentRuntime": {"id": "auto"}}, "x/z": {"agentRuntime": {"id": 3}}}}}}}`
	var raw map[string]any
	if err := json.Unmarshal([]byte(config), &raw); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range RuntimesIn(raw) {
		got = append(got, r.Summary())
	}
	want := []string{"embedded runner: capture on, assembly on, compaction on", "CLI backend claude-cli: capture on, assembly off, compaction off (", "Codex harness: capture on, assembly on, compaction off ("}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if list := RuntimesIn(nil); len(list) != 1 || list[0].ID != embedded {
		t.Errorf("nothing configured: %+v", list)
	}
	if r := RuntimeOf("acp"); r.Capture || r.Assembly || r.Compaction {
		t.Errorf("%+v", r)
	}
}

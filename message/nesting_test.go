package message_test

import (
	"strings"
	"testing"

	"github.com/skald-engine/skald/message"
)

func TestNesting(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		``: 0, `1`: 0, `{}`: 1, `[[],[]]`: 2, `{"a":[{"b":1}],"c":{}}`: 3, `["[[[\"[["]`: 1, `["\\",[]]`: 2, strings.Repeat("[", 700): 700,
	} {
		if got := message.Nesting([]byte(raw)); got != want {
			t.Errorf("%.40s: %d, want %d", raw, got, want)
		}
	}
}

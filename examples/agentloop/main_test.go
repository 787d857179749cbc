package main

import (
	"context"
	"strings"
	"testing"
)

// TestLoop: the same agent under every engine. Those that keep the beginning in reach know the code in the end, a sliding window does not.
func TestLoop(t *testing.T) {
	if err := register(); err != nil {
		t.Fatal(err)
	}
	for id, knows := range map[string]bool{"": false, "pinned": true, "viking": true, "dag": true, "tiered": true, "rag": true, "task": true} {
		t.Run("engine "+id, func(t *testing.T) {
			var last, status string
			err := talk(context.Background(), id, 3000, func(who, text string) {
				if who == "agent" {
					last = text
				}
				status = text
			})
			if err != nil || !strings.Contains(status, "is running, 0 faults, 0 calls on legacy") || strings.HasPrefix(last, "I did not") {
				t.Fatalf("%s, %v", status, err)
			}
			if got := last == "It is 4711."; got != knows {
				t.Errorf("the answer is %q", last)
			}
		})
	}
	if err := talk(context.Background(), "magic", 3000, func(string, string) {}); err == nil || !strings.Contains(err.Error(), "viking") {
		t.Errorf("an unknown engine: %v", err)
	}
}

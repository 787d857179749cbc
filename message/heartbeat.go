package message

import "strings"

// heartbeats are the starts of the host's heartbeat prompts: of a poll's stored text, of the default prompt of older hosts, and of
// what assemble is told (docs/openclaw.md, 10).
var heartbeats = []string{"[heartbeat", "[openclaw heartbeat", "read heartbeat.md if it exists", "follow the heartbeat monitor scratch context"}

// Heartbeat recognises the host's heartbeat prompts by their text: the default prompt, and texts that begin with "[heartbeat". It is
// a hint beside the host's own flag: such turns are stored but never counted, extracted or given recall.
func Heartbeat(text string) bool {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "[") { // the host's date prefix: [Mon 2026-11-30 12:03 UTC]
		if date, rest, ok := strings.Cut(s[1:], "] "); ok && !strings.Contains(strings.ToLower(date), "heartbeat") {
			s = strings.TrimSpace(rest)
		}
	}
	s = strings.ToLower(s)
	for _, start := range heartbeats {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

package message

import "strings"

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
	return strings.HasPrefix(s, "[heartbeat") || strings.HasPrefix(s, "read heartbeat.md if it exists")
}

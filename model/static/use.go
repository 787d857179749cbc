package static

import "sync/atomic"

var used atomic.Bool

// Use switches meaning on or off for this process. It is off until a store is opened with the configuration's `meaning`.
func Use(on bool) { used.Store(on) }

// Meaning is Embed where meaning is switched on, else nil: then nothing is kept of it, and nothing is searched by it.
func Meaning(text string) []int8 {
	if !used.Load() {
		return nil
	}
	return Embed(text)
}

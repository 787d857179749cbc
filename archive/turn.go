package archive

import (
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Turn is one turn as a summariser or an extractor reads it: words with their origin, without reasoning, recalled text and
// host wrapping (CMP-08, CMP-09).
type Turn struct {
	Seq       int64
	Time      time.Time
	Role      skald.Role
	Origin    skald.Origin
	Audience  skald.Audience
	Purpose   skald.Purpose
	Speaker   string // the person's name where the host tells, else ""
	Text      string
	ToolName  string // of a tool result
	ToolCalls []ToolCall
	IsError   bool
	Tokens    int // of the whole stored message, calls included
}

// ToolCall is a call that an assistant turn made.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON
}

// Turns reads stored turns. Left out are what was forgotten or purged, what Skald itself had injected (I10), results of recall
// tools, and turns that hold neither text nor calls.
func Turns(stored []skald.Turn) []Turn {
	out := make([]Turn, 0, len(stored))
	for _, s := range stored {
		if s.Forgotten || s.Purged || len(s.Raw) == 0 {
			continue
		}
		if t, ok := read(s); ok {
			out = append(out, t)
		}
	}
	return out
}

// Recalled reports whether a tool's result repeats stored context, so that it says nothing new.
func Recalled(tool string) bool {
	return strings.HasPrefix(tool, "memory_") || strings.HasPrefix(tool, "ov_")
}

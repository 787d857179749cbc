package memory

import (
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/archive/sentence"
)

// cases finds failed calls of a tool that a later call of the same tool in the same exchange mended. The error is quoted and
// attributed: it is a tool's text.
func cases(ref skald.SessionRef, turns []archive.Turn) []Candidate {
	var out []Candidate
	calls := map[string]archive.ToolCall{} // newest call of each tool
	var failed *archive.Turn
	var failedCall archive.ToolCall
	for i := range turns {
		t := &turns[i]
		switch {
		case t.Purpose != skald.PurposeTalk:
		case t.Role == skald.RoleUser:
			failed = nil
		case t.Role == skald.RoleAssistant:
			for _, c := range t.ToolCalls {
				calls[c.Name] = c
			}
		case t.Role == skald.RoleTool && failure(*t):
			failed, failedCall = t, calls[t.ToolName]
		case t.Role == skald.RoleTool && failed != nil && failed.ToolName == t.ToolName && retry(failedCall, calls[t.ToolName]):
			out = append(out, mended(ref, *failed, *t, calls[t.ToolName]))
			failed = nil
		}
	}
	return out
}

// retry reports whether a call tries another way to do what a failed one should have done.
func retry(failed, next archive.ToolCall) bool {
	return failed.Arguments != next.Arguments && sentence.Overlap(weigh(failed.Arguments), weigh(next.Arguments)) >= 0.6
}

func failure(t archive.Turn) bool {
	return t.IsError && t.ToolName != ""
}

func mended(ref skald.SessionRef, failed, done archive.Turn, call archive.ToolCall) Candidate {
	text := fmt.Sprintf("%s failed: %s; what worked: %s", failed.ToolName, sentence.Clip(firstError(failed.Text), 140), sentence.Clip(oneLine(call.Arguments), 160))
	return Candidate{Type: caseOf, Text: text, Said: done.Time, Speaker: "agent", Origin: skald.OriginAgent, Audience: done.Audience,
		Session: ref, From: failed.Seq, To: done.Seq}
}

// firstError is the first line that names an error, else the first line.
func firstError(text string) string {
	cue := sentence.Cues{"error", "failed", "denied", "not found", "exception", "fatal", "cannot"}
	first := ""
	for l := range strings.Lines(text) {
		l = oneLine(l)
		if first == "" {
			first = l
		}
		if cue.In(strings.ToLower(l)) {
			return l
		}
	}
	return first
}

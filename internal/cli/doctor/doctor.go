// Package doctor looks for what is wrong with a store, its daemon, and the host's side of it. Every finding says how to mend it.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Finding is one thing looked at.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// Report is all findings. OK is false when one of them is a failure.
type Report struct {
	OK       bool      `json:"ok"`
	Findings []Finding `json:"findings"`
}

// Add takes findings in.
func (r *Report) Add(findings ...Finding) {
	r.Findings = append(r.Findings, findings...)
	r.OK = true
	for _, f := range r.Findings {
		r.OK = r.OK && f.Level != Fail
	}
}

func good(check, format string, args ...any) Finding {
	return Finding{Check: check, Level: OK, Message: fmt.Sprintf(format, args...)}
}

func warn(check, fix, format string, args ...any) Finding {
	return Finding{Check: check, Level: Warn, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(check, fix, format string, args ...any) Finding {
	return Finding{Check: check, Level: Fail, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// Unreachable is the finding when neither store nor daemon answers.
func Unreachable(check string, err error) Finding {
	return fail(check, mend(check, err), "%v", err)
}

// mend says what to do about an engine that does not answer.
func mend(check string, err error) string {
	switch kind := skald.KindOf(err); {
	case kind == skald.KindUnauth || kind == skald.KindPermission:
		return "give the daemon's key with --key or SKALD_API_KEY; it lies in the file key of the daemon's data folder"
	case check == "store" && kind == skald.KindNotFound:
		return "name the folder that `skald serve --data` uses, or leave --data out to ask the running daemon"
	case check == "store" && kind == skald.KindUnavailable:
		return "when a daemon holds the folder, leave --data out to ask it"
	case check == "store":
		return ""
	}
	return "`skald init` sets Skald up, `skald serve` starts the daemon; --data DIR or --server URL name data that lies elsewhere"
}

// Engine looks at what the engine tells of itself.
func Engine(ctx context.Context, i skald.Inspector, id skald.Identity) []Finding {
	st, err := i.Status(ctx, id)
	if err != nil {
		fix := "see the daemon's log"
		if kind := skald.KindOf(err); kind == skald.KindUnauth || kind == skald.KindPermission {
			fix = mend("daemon", err)
		}
		return []Finding{fail("store", fix, "status cannot be read: %v", err)}
	}
	return append([]Finding{store(st), schema(st), disk(st), stuck(st), jobs(st), deadLetters(st), capture(st), faults(st), last(st), meaning(st)}, remote(st)...)
}

func store(st skald.Status) Finding {
	if !st.Store.Writing {
		return fail("store", "free disk space or mend the disk, then restart the daemon", "%s takes no writes", st.Store.Path)
	}
	return good("store", "%s: %s, %d turns in %d sessions", st.Store.Engine, st.Store.Path, st.Store.Turns, st.Sessions)
}

func schema(st skald.Status) Finding { return good("schema", "version %d", st.Store.Schema) }

// disk warns before writes fail.
func disk(st skald.Status) Finding {
	const enough, little = 1 << 30, 100 << 20
	mb := st.Store.Free >> 20
	switch {
	case st.Store.Free < 0:
		return warn("disk", "look with df", "the free space is not known")
	case st.Store.Free < little:
		return fail("disk", "free some space: when the disk is full no turn can be stored", "%d MB are free", mb)
	case st.Store.Free < enough:
		return warn("disk", "free some space", "%d MB are free", mb)
	}
	return good("disk", "%d MB are free", mb)
}

func stuck(st skald.Status) Finding {
	if n := len(st.Attention); n > 0 {
		return warn("sessions", "`skald commit SESSION --wait` tries again and says what fails", "%d need attention: %s", n, some(st.Attention))
	}
	return good("sessions", "none is stuck")
}

func jobs(st skald.Status) Finding {
	if st.JobsFailed > 0 {
		return warn("jobs", "`skald status` shows the faults; `skald commit SESSION --wait` tries again", "%d failed, %d wait", st.JobsFailed, st.JobsReady)
	}
	return good("jobs", "none failed, %d wait", st.JobsReady)
}

func deadLetters(st skald.Status) Finding {
	if st.DeadLetters > 0 {
		return warn("dead letters", "they are larger than any limit; the host's transcript still has them", "%d messages could not be stored and were kept aside", st.DeadLetters)
	}
	return good("dead letters", "none")
}

func capture(st skald.Status) Finding {
	if st.CaptureOff > 0 {
		return warn("capture", "set autoCapture to true, or take the session out of bypassSessionPatterns, if that is not meant",
			"%d exchanges were acknowledged but not stored, as configured", st.CaptureOff)
	}
	return good("capture", "every exchange is stored")
}

func faults(st skald.Status) Finding {
	if n := len(st.Faults); n > 0 {
		f := st.Faults[n-1]
		return warn("faults", "the daemon's log has the details; the host went on with its own messages",
			"%d failures inside the engine, the last one at %s in %s: %s", n, f.Time.UTC().Format(time.RFC3339), f.Op, f.Error)
	}
	return good("faults", "none")
}

func last(st skald.Status) Finding {
	if st.LastCommitTurn.IsZero() {
		return warn("last turn", "send a message through the host; if nothing arrives, check plugin and slot", "no host has delivered a turn yet")
	}
	if n := len(st.Bypassed); n > 0 {
		b := st.Bypassed[0]
		return warn("last turn", "docs/runtimes.md says which agent runtimes use Skald; a daemon that was away is used again at the next turn",
			"%d sessions go past Skald; %s did so %d times since %s: %s", n, b.Session, b.Turns, b.Since.UTC().Format(time.RFC3339), b.Reason)
	}
	return good("last turn", "stored at %s", st.LastCommitTurn.UTC().Format(time.RFC3339))
}

// some is the first few of a list, in words.
func some(list []string) string {
	const few = 3
	text := ""
	for i, s := range list {
		if i == few {
			return fmt.Sprintf("%s, and %d more", text, len(list)-few)
		}
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}

package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/skald-engine/skald"
)

// bypassLog keeps which sessions go past the engine, for status and doctor. It lives in memory: the host's adapter tells of every such
// turn again.
type bypassLog struct {
	mu   sync.Mutex
	open map[skald.SessionRef]skald.Bypass
}

const keptBypasses = 200 // sessions; beyond it the one that has been quiet longest gives way

// wentPast notes one turn that the host ran without the engine.
func (e *Engine) wentPast(r skald.EventRequest) error {
	ref, err := e.ref(r.Request, e.settings(r.Settings))
	if err != nil {
		return err
	}
	e.bypasses.add(ref, skald.Bypass{Session: ref.ID, Last: e.now(r.Request), Turns: 1, Reason: clipped(r.Reason, 200)})
	e.opts.Metrics.Count("bypassed_turns", 1)
	return nil
}

func (l *bypassLog) add(ref skald.SessionRef, b skald.Bypass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[skald.SessionRef]skald.Bypass{}
	}
	b.Since = b.Last
	if known, ok := l.open[ref]; ok {
		b.Since, b.Turns = known.Since, known.Turns+1
	} else if len(l.open) >= keptBypasses {
		delete(l.open, l.quietest())
	}
	l.open[ref] = b
}

func (l *bypassLog) quietest() (oldest skald.SessionRef) {
	for ref, b := range l.open {
		if known, ok := l.open[oldest]; !ok || b.Last.Before(known.Last) {
			oldest = ref
		}
	}
	return oldest
}

// end is called when a turn of the session was stored.
func (l *bypassLog) end(ref skald.SessionRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, ref)
}

// of lists the bypasses of the scopes, the newest first.
func (l *bypassLog) of(scopes []skald.Scope) (list []skald.Bypass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref, b := range l.open {
		if slices.Contains(scopes, ref.Scope) {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b skald.Bypass) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		return strings.Compare(a.Session, b.Session)
	})
	return list
}

// clipped is a text of at most most characters that can be shown in a line.
func clipped(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	return string(runes[:min(len(runes), most)])
}

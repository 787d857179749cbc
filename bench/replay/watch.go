package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"github.com/skald-engine/skald/message"
)

// request is one request to the model: what was assembled, then the exchange's own messages so far.
type request struct {
	before     []json.RawMessage // what stands before the prompt
	pending    []json.RawMessage
	users      int // pending messages that are the prompt
	projection string
	first      bool // the first request of its exchange
	budget     int
}

// watch measures the requests in their order.
type watch struct {
	last       *request          // nil after a refused assemble
	projection string            // of the newest request
	sent       map[[32]byte]bool // every beginning of every request so far
	marked     map[[32]byte]bool // the beginnings that end at a prompt
	shares     []float64         // prefix_share, all pairs
	turns      []float64         // the same, first requests of two exchanges
	total      int               // tokens of all requests
	readable   int               // tokens under the rule "longest prefix"
	markable   int               // tokens under the rule "only up to a mark"
	assembles  []time.Duration
	commits    []time.Duration
}

// request takes one request in and measures it.
func (w *watch) request(r request, report *Report) Call {
	size := sum(r.before) + sum(r.pending)
	report.MaxOverBudget = max(report.MaxOverBudget, size-r.budget)
	report.MaxRequest = max(report.MaxRequest, size)
	report.BrokenPairs += len(message.CheckPairs(append(slices.Clip(r.before), message.FixPairs(r.pending)...)))
	call := Call{First: r.first, Before: r.before, Pending: r.pending, Tokens: size}
	w.compare(&r, report, &call)
	w.cache(r, &call)
	w.last = &r
	return call
}

// interrupted forgets the previous request: the host used its own messages in between.
func (w *watch) interrupted() { w.last = nil }

// compare measures how much of the previous request, up to its prompt, stands unchanged at the start of this one.
func (w *watch) compare(r *request, report *Report, call *Call) {
	call.Published = w.projection != "" && r.projection != w.projection
	w.projection = r.projection
	if call.Published {
		report.Publications++
	}
	if w.last == nil {
		return
	}
	call.Shared = sum(w.last.before[:common(w.last.before, r.all())])
	whole := sum(w.last.before)
	if call.Published || whole == 0 {
		return // a new beginning, or nothing stood before the first prompt
	}
	share := float64(call.Shared) / float64(whole)
	w.shares = append(w.shares, share)
	if r.first {
		w.turns = append(w.turns, share)
	}
}

func (r *request) all() []json.RawMessage { return append(slices.Clip(r.before), r.pending...) }

// common is how many messages two lists share at their start, byte for byte.
func common(a, b []json.RawMessage) int {
	n := 0
	for n < min(len(a), len(b)) && bytes.Equal(a[n], b[n]) {
		n++
	}
	return n
}

// cache measures what a provider could have read from its cache of all earlier requests. A mark stands at the prompt: what stood before
// and the prompt itself can be read again under the second rule, nothing behind it.
func (w *watch) cache(r request, call *Call) {
	if w.sent == nil {
		w.sent, w.marked = map[[32]byte]bool{}, map[[32]byte]bool{}
	}
	all, prompt := r.all(), len(r.before)+r.users
	longest, mark, tokens := 0, 0, 0
	var state [32]byte
	states := make([][32]byte, len(all))
	for i, raw := range all {
		state = sha256.Sum256(append(state[:], raw...))
		states[i] = state
		tokens += message.Tokens(raw)
		if w.sent[state] {
			longest = tokens
		}
		if w.marked[state] {
			mark = tokens
		}
	}
	call.Longest, call.Mark = longest, mark
	w.total, w.readable, w.markable = w.total+call.Tokens, w.readable+longest, w.markable+mark
	for i, s := range states {
		w.sent[s] = true
		if i+1 == prompt {
			w.marked[s] = true
		}
	}
}

// close writes the totals into the report.
func (w *watch) close(report *Report) {
	report.PrefixShare, report.PrefixShareTurns = mean(w.shares), mean(w.turns)
	if w.total > 0 {
		report.CacheableShare = Cacheable{
			LongestPrefix: float64(w.readable) / float64(w.total), Mark: float64(w.markable) / float64(w.total),
		}
	}
	report.AssembleMS, report.CommitTurnMS = spread(w.assembles), spread(w.commits)
}

func sum(list []json.RawMessage) (n int) {
	for _, raw := range list {
		n += message.Tokens(raw)
	}
	return n
}

// mean of nothing is 1: nothing was broken.
func mean(list []float64) float64 {
	if len(list) == 0 {
		return 1
	}
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total / float64(len(list))
}

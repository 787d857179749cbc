package chat

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

const (
	shownItems = 8
	itemText   = 100 // characters
)

// reasons is why the last answer was given its context, and the details.
type reasons struct {
	Explanation skald.Explanation `json:"explanation"`
	Raw         int               `json:"raw_tokens"`     // turns as they were said
	Recalls     int               `json:"recalls_tokens"` // this recall and those that still stand among the turns, with their frames
	Cache       *cache            `json:"cache,omitempty"`
}

// cache is how much of the request the provider could read from its cache.
type cache struct {
	Read     int  `json:"read_tokens"`
	Input    int  `json:"input_tokens"`
	Reported bool `json:"reported"` // by the provider; else estimated from what stood unchanged in the request before
}

// why explains the newest assemble of the session.
func why(ctx context.Context, x *call) (wire.CommandAnswer, error) {
	e, err := x.Inspector.Explain(ctx, x.id, x.session, 0)
	if skald.KindOf(err) == skald.KindNotFound {
		return wire.CommandAnswer{Text: "Skald has not made a context for this session yet; /skald status tells why, if there were answers."}, nil
	}
	if err != nil {
		return wire.CommandAnswer{}, err
	}
	w := reasons{Explanation: e}
	if w.Raw, err = x.raw(ctx, e); err != nil {
		return wire.CommandAnswer{}, err
	}
	w.Recalls = e.Tokens - e.Head - w.Raw
	if w.Cache, err = x.cache(ctx, e); err != nil {
		return wire.CommandAnswer{}, err
	}
	t := &text{}
	w.addCost(t)
	w.addRecall(t)
	w.addDropped(t)
	w.addCache(t)
	return reply(t, w)
}

// raw counts the turns that were shown as they were said; shortened ones count as what was left for them.
func (x *call) raw(ctx context.Context, e skald.Explanation) (n int, err error) {
	if e.RawFrom == 0 {
		return 0, nil
	}
	turns, err := x.Inspector.ListTurns(ctx, x.id, x.session, e.RawFrom, e.RawTo)
	for _, t := range turns {
		n += t.Tokens
	}
	return max(0, min(n, e.Tokens-e.Head-e.Recall.Tokens)), err
}

func (w reasons) addCost(t *text) {
	e := w.Explanation
	t.add("At %s the model was shown %s tokens before your message, %s of the %s it may have.", e.Time.UTC().Format("15:04 UTC"),
		number(e.Tokens), percent(e.Tokens, e.Budget), number(e.Budget))
	raw := "no earlier turns"
	if e.RawFrom > 0 {
		raw = "turns " + number(e.RawFrom) + " to " + number(e.RawTo) + " as they were said " + number(w.Raw)
	}
	t.add("Notes and summaries %s, %s, recalls %s.", number(e.Head), raw, number(w.Recalls))
}

func (w reasons) addRecall(t *text) {
	r := w.Explanation.Recall
	switch {
	case r.Skipped != "" && len(r.Items) == 0:
		t.add("Nothing was recalled: %s.", strings.TrimSuffix(r.Skipped, "."))
		return
	case len(r.Items) == 0:
		t.add("Nothing was recalled: nothing fits well enough.")
		return
	}
	t.add("Recalled for %q:", clip(r.Query, 80))
	for i, item := range r.Items[:min(len(r.Items), shownItems)] {
		t.add("%d. %.2f %s: %s", i+1, item.Score, item.Kind, clip(item.Text, itemText))
		t.add("   %s", item.URI)
	}
	if more := len(r.Items) - shownItems; more > 0 {
		t.add("and %d more", more)
	}
}

// addDropped sums up by reason what recall looked at and did not show, and what had to be cut.
func (w reasons) addDropped(t *text) {
	counts := map[string]int{}
	for _, d := range w.Explanation.Recall.Dropped {
		counts[d.Why]++
	}
	var parts []string
	for reason, n := range counts {
		parts = append(parts, number(n)+" "+reason)
	}
	slices.Sort(parts)
	if len(parts) > 0 {
		t.add("Looked at and not shown: %s.", strings.Join(parts, ", "))
	}
	for _, cut := range w.Explanation.Cut {
		t.add("Left out for want of room: %s", clip(cut, 160))
	}
}

func (w reasons) addCache(t *text) {
	c := w.Cache
	switch {
	case c == nil:
	case c.Reported:
		t.add("The provider read %s of %s input tokens from its cache (%s).", number(c.Read), number(c.Input), percent(c.Read, c.Input))
	default:
		t.add("About %s of it stood unchanged in the request before, and can come from the provider's cache (estimate).", percent(c.Read, c.Input))
	}
}

// cache takes the provider's own numbers from the answer; where there are none it compares with the assemble before.
func (x *call) cache(ctx context.Context, e skald.Explanation) (*cache, error) {
	turns, err := x.Inspector.ListTurns(ctx, x.id, x.session, e.AfterSeq+1, e.AfterSeq+20)
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		if c := reported(t.Raw); t.Envelope.Role == skald.RoleAssistant && c != nil {
			return c, nil
		}
	}
	if e.AfterSeq == 0 {
		return nil, nil
	}
	before, err := x.Inspector.Explain(ctx, x.id, x.session, e.AfterSeq)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil, nil
	}
	if err != nil || before.Head != e.Head || before.RawFrom != e.RawFrom || e.Tokens == 0 {
		return nil, err
	}
	return &cache{Read: min(before.Tokens, e.Tokens), Input: e.Tokens}, nil
}

// reported reads the provider's numbers from the host's message; nil when it tells nothing of a cache.
func reported(raw []byte) *cache {
	var m struct {
		Usage struct {
			Input      int `json:"input"`
			CacheRead  int `json:"cacheRead"`
			CacheWrite int `json:"cacheWrite"`
		} `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Usage.CacheRead+m.Usage.CacheWrite == 0 {
		return nil
	}
	u := m.Usage
	return &cache{Read: u.CacheRead, Input: u.Input + u.CacheRead + u.CacheWrite, Reported: true}
}

package backend

import (
	"context"
	"encoding/json"
	"slices"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/api"
)

// A long result of a tool is shown as a stub; the turn holds it whole. Which results are stubs hangs on those that follow each other, so
// they are looked at as runs: the results of one step of an assistant.

// runs cuts turns into runs of results and everything else, one run for each other turn.
func runs(turns []skald.Turn) (out [][]skald.Turn) {
	for i := range turns {
		n := len(out)
		if n > 0 && turns[i].Role == skald.RoleTool && out[n-1][0].Role == skald.RoleTool && turns[i].Seq == turns[i-1].Seq+1 {
			out[n-1] = append(out[n-1], turns[i])
			continue
		}
		out = append(out, turns[i:i+1:i+1])
	}
	return out
}

// mayBeLong reports, without a look at the payloads, whether one of a run of results could be shown as a stub: a token is at most
// four characters.
func mayBeLong(run []skald.Turn, limits api.ResultLimits) bool {
	if limits.Off || run[0].Role != skald.RoleTool {
		return false
	}
	sum := 0
	for _, t := range run {
		if 4*t.Tokens > limits.Threshold {
			return true
		}
		sum += 4 * t.Tokens
	}
	return sum > limits.TurnBudget
}

// shown puts stubs in the place of the long results of turns with payloads.
func shown(ref skald.SessionRef, turns []skald.Turn, limits api.ResultLimits) []skald.Turn {
	turns = slices.Clone(turns)
	for at := 0; at < len(turns); {
		run := runs(turns[at:])[0]
		if mayBeLong(run, limits) {
			showRun(ref, turns[at:at+len(run)], limits)
		}
		at += len(run)
	}
	return turns
}

func showRun(ref skald.SessionRef, run []skald.Turn, limits api.ResultLimits) {
	list, places := results(ref, run)
	for i, stub := range api.Stubs(list, limits, resultsURI(ref)) {
		if stub != nil {
			t := &run[places[i]]
			t.Raw, t.Tokens = stub, message.Tokens(stub)
		}
	}
}

// results reads the results of a run, and where in it they stand.
func results(ref skald.SessionRef, run []skald.Turn) (list []api.Result, places []int) {
	for i, t := range run {
		if t.Purged || t.Forgotten {
			continue
		}
		r, ok := api.ResultOf(ref.ID, api.HostMessage{Seq: t.Seq, Time: t.Time, Raw: json.RawMessage(t.Raw)})
		if ok {
			list, places = append(list, r), append(places, i)
		}
	}
	return list, places
}

func resultsURI(ref skald.SessionRef) skald.URI { return ref.URI().Join("tool-results") }

// ListToolResults implements api.ToolResults.
func (b *Backend) ListToolResults(
	ctx context.Context, id skald.Identity, session, tool string, limit int,
) (out []api.ToolResult, err error) {
	ref := b.ref(id, session)
	err = b.store.View(ctx, func(tx skald.Tx) error {
		if _, err := tx.Session(ref); err != nil {
			return err
		}
		return b.eachRun(tx, ref, func(run []skald.Turn) (bool, error) {
			if !mayBeLong(run, b.limits) {
				return true, nil
			}
			full, err := payloads(tx, ref, run)
			if err != nil {
				return false, err
			}
			list, _ := results(ref, full)
			stubs := api.Stubs(list, b.limits, resultsURI(ref))
			for i, r := range slices.Backward(list) {
				if stubs[i] != nil && (tool == "" || r.Info.Name == tool) && len(out) < limit {
					out = append(out, b.describeResult(ref, r))
				}
			}
			return len(out) < limit, nil
		})
	})
	slices.Reverse(out)
	return out, err
}

// eachRun calls look for the session's runs of results, the newest first and without payloads, until it returns false.
func (b *Backend) eachRun(tx skald.Tx, ref skald.SessionRef, look func(run []skald.Turn) (bool, error)) error {
	turns, err := tx.Turns(ref, skald.TurnQuery{NoRaw: true})
	if err != nil {
		return err
	}
	for _, run := range slices.Backward(runs(turns)) {
		if run[0].Role != skald.RoleTool {
			continue
		}
		if more, err := look(run); err != nil || !more {
			return err
		}
	}
	return nil
}

func (b *Backend) describeResult(ref skald.SessionRef, r api.Result) api.ToolResult {
	t := r.Info
	t.Session, t.User, t.Storage = ref.ID, ref.Scope.User, resultsURI(ref).Join(t.ID)
	t.Output = t.Storage.Join("output.txt")
	t.Preview = min(b.limits.Preview, t.Chars)
	t.Synopsis = api.Summarise(r.Text)
	t.Kind = t.Synopsis.Kind
	return t
}

// ToolResult implements api.ToolResults. A result that is not shown as a stub can be read as well.
func (b *Backend) ToolResult(ctx context.Context, id skald.Identity, session, name string) (out api.ToolResult, text string, err error) {
	ref, found := b.ref(id, session), false
	err = b.store.View(ctx, func(tx skald.Tx) error {
		if _, err := tx.Session(ref); err != nil {
			return err
		}
		return b.eachRun(tx, ref, func(run []skald.Turn) (bool, error) {
			full, err := payloads(tx, ref, run)
			if err != nil {
				return false, err
			}
			list, _ := results(ref, full)
			for _, r := range list {
				if r.Info.ID == name {
					out, text, found = b.describeResult(ref, r), r.Text, true
				}
			}
			return !found, nil
		})
	})
	if err == nil && !found {
		err = skald.NotFound("backend.tool_result", name)
	}
	return out, text, err
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
)

// traceItems is how many items of one recall are told.
const traceItems = 20

// toolTrace tells what recall brought before the newest prompts of this session, and why. What was left out is counted.
func toolTrace(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	ref, err := c.e.ref(c.r.Request, c.set)
	if err != nil {
		return answer, err
	}
	limit := int(c.args.Limit)
	switch {
	case c.args.Turn == "" || c.args.Turn == "latest":
		limit = 1
	case c.args.Turn != "all":
		return answer, skald.Invalid("ov_recall_trace", "turn", "latest or all")
	case limit == 0:
		limit = 20
	}
	var list []skald.Explanation
	err = c.e.store.View(ctx, func(tx skald.Tx) error {
		traces, err := tx.Traces(ref, skald.TraceQuery{Limit: limit})
		list = nil
		for _, t := range traces {
			var x skald.Explanation
			if json.Unmarshal(t.JSON, &x) == nil {
				list = append(list, x)
			}
		}
		return err
	})
	if err != nil {
		return answer, err
	}
	return traceAnswer(list, c.args.Content), nil
}

func traceAnswer(list []skald.Explanation, content bool) skald.ToolAnswer {
	if len(list) == 0 {
		return skald.ToolAnswer{Text: "Nothing was recalled in this session yet.", Details: details(map[string]any{"count": 0})}
	}
	var b strings.Builder
	recalls := make([]map[string]any, len(list))
	for i, x := range list {
		r := x.Recall
		fmt.Fprintf(&b, "%s  for %q: %d shown, %d left out, %d tokens, %.0f ms\n", x.Time.UTC().Format("2006-01-02 15:04:05"), r.Query,
			len(r.Items), len(r.Dropped), r.Tokens, r.Millis)
		if r.Skipped != "" {
			fmt.Fprintf(&b, "  skipped: %s\n", r.Skipped)
		}
		for _, item := range r.Items[:min(len(r.Items), traceItems)] {
			fmt.Fprintf(&b, "  %.2f %s %s\n", item.Score, item.Kind, item.URI)
			if content {
				text, _ := cutAround(strings.Join(strings.Fields(item.Text), " "), "", searchAbstract)
				fmt.Fprintf(&b, "       %s\n", text)
			}
		}
		recalls[i] = map[string]any{"turn_id": x.TurnID, "time": x.Time, "query": r.Query, "shown": len(r.Items), "left_out": len(r.Dropped), "skipped": r.Skipped}
	}
	return skald.ToolAnswer{Text: b.String(), Details: details(map[string]any{"count": len(list), "traces": recalls})}
}

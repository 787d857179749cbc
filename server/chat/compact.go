package chat

import (
	"context"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// compact commits and publishes now.
func compact(ctx context.Context, x *call) (wire.CommandAnswer, error) {
	r, err := x.Engine.Compact(ctx, skald.CompactRequest{Request: x.Request, Force: true, Target: "threshold", Trigger: "manual", Instructions: x.rest})
	if err != nil {
		return wire.CommandAnswer{}, err
	}
	t := &text{}
	if !r.Compacted {
		t.add("Nothing changed: %s.", strings.TrimSuffix(r.Reason, "."))
		return reply(t, r)
	}
	t.add("Compacted: the model's view goes from %s to %s tokens with the next message.", number(r.TokensBefore), number(r.TokensAfter))
	t.add("Nothing was deleted: every turn stays stored, and the summary leads back to them.")
	return reply(t, r)
}

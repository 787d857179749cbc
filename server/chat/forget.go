package chat

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

const (
	matches   = 5
	keptLists = 500 // sessions whose last list is remembered
)

// forget shows what a text could mean, and forgets what a number, a URI or --yes names. Only the owner may.
func forget(ctx context.Context, x *call) (wire.CommandAnswer, error) {
	if !x.Owner {
		return wire.CommandAnswer{Text: "Only the owner may forget something.", IsError: true}, nil
	}
	rest, yes := strings.CutPrefix(x.rest, "--yes")
	what := strings.TrimSpace(rest)
	if n, err := strconv.Atoi(what); err == nil {
		return x.forgetListed(ctx, n)
	}
	switch {
	case strings.HasPrefix(what, "viking://"):
		return x.forgetURI(ctx, what)
	case what != "":
		return x.showMatches(ctx, what, yes)
	case yes:
		return x.forgetOnly(ctx)
	}
	return wire.CommandAnswer{Text: "Say what to forget: /skald forget TEXT, or the viking:// URI of a memory.", IsError: true}, nil
}

// showMatches lists memories that a text could mean. With --yes the only one is forgotten at once.
func (x *call) showMatches(ctx context.Context, what string, yes bool) (wire.CommandAnswer, error) {
	found, err := x.Inspector.Find(ctx, x.id, skald.FindQuery{
		Query: what, Kinds: []skald.DocKind{skald.DocMemory}, Limit: matches, Session: x.session, Now: x.Now})
	if err != nil {
		return wire.CommandAnswer{}, err
	}
	x.remember(found.Hits)
	if len(found.Hits) == 0 {
		return wire.CommandAnswer{Text: "No memory says that, so there is nothing to forget. What was said stays in the conversation."}, nil
	}
	if yes && len(found.Hits) == 1 {
		return x.forgetURI(ctx, string(found.Hits[0].URI))
	}
	t := &text{}
	t.add("These memories could be meant:")
	for i, hit := range found.Hits {
		t.add("%d. %s", i+1, clip(hit.Text, 160))
		t.add("   %s", hit.URI)
	}
	if len(found.Hits) == 1 {
		t.add("Forget it with /skald forget --yes")
	} else {
		t.add("Forget one with /skald forget N")
	}
	t.add("The turns behind it leave recall, search and summaries as well; the conversation itself stays.")
	return reply(t, found.Hits)
}

func (x *call) forgetListed(ctx context.Context, n int) (wire.CommandAnswer, error) {
	list := x.last()
	if n < 1 || n > len(list) {
		return wire.CommandAnswer{Text: "There is no such number in the last list: say /skald forget TEXT first.", IsError: true}, nil
	}
	return x.forgetURI(ctx, string(list[n-1].URI))
}

func (x *call) forgetOnly(ctx context.Context) (wire.CommandAnswer, error) {
	switch list := x.last(); len(list) {
	case 0:
		return wire.CommandAnswer{Text: "Say /skald forget TEXT first, to see what would be forgotten.", IsError: true}, nil
	case 1:
		return x.forgetURI(ctx, string(list[0].URI))
	}
	return wire.CommandAnswer{Text: "Several could be meant: say /skald forget N with a number of the list.", IsError: true}, nil
}

// forgetURI forgets through the tool that the model has, with its rules.
func (x *call) forgetURI(ctx context.Context, uri string) (wire.CommandAnswer, error) {
	args, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return wire.CommandAnswer{}, err
	}
	a, err := x.Engine.Tool(ctx, skald.ToolRequest{Request: x.Request, Tool: "memory_forget", Args: args})
	if err != nil {
		return wire.CommandAnswer{}, err
	}
	if !a.IsError {
		x.drop(uri)
	}
	return wire.CommandAnswer{Text: a.Text, Details: a.Details, IsError: a.IsError}, nil
}

// remember keeps the list that was shown; one of another session gives way when there are very many.
func (x *call) remember(list []skald.RecallCandidate) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.listed == nil {
		x.listed = map[place][]skald.RecallCandidate{}
	}
	for other := range x.listed {
		if len(x.listed) < keptLists {
			break
		}
		delete(x.listed, other)
	}
	x.listed[x.place] = list
}

func (x *call) last() []skald.RecallCandidate {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.listed[x.place]
}

// drop ends a list when one of it is gone: its numbers would mean something else the next time.
func (x *call) drop(uri string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, hit := range x.listed[x.place] {
		if string(hit.URI) == uri {
			delete(x.listed, x.place)
			return
		}
	}
}

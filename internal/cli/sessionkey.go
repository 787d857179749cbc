package cli

import (
	"context"
	"strings"

	"github.com/skald-engine/skald"
)

// session is the id of the session that SESSION means. A name with a colon is a host's session key, as `agent:main:main`, which is what a
// person sees in the host; it stands for the newest session that had it. No id holds a colon (skald.SafeID).
func (p *place) session(ctx context.Context, name string) (string, error) {
	if !strings.Contains(name, ":") {
		return name, nil
	}
	all, err := p.ListSessions(ctx, p.id, 0)
	if err != nil {
		return "", err
	}
	for _, i := range all { // newest first
		if i.Key == name {
			return i.ID, nil
		}
	}
	return "", &skald.Error{URI: name, Kind: skald.KindNotFound, Err: &hint{"no session has this key", "`skald sessions` lists ids and keys"}}
}

package engine

import (
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
)

// whole replaces the beginning of a session's id in a target, as recalls write it, by the id; a target that needs nothing comes back as
// it is, and one that names no session fails with KindNotFound where it is read.
func whole(tx skald.Tx, t skald.Target) (skald.Target, error) {
	if len(t.Session) != skald.ShortSession {
		return t, nil
	}
	_, err := tx.Session(skald.SessionRef{Scope: t.Scope, ID: t.Session})
	if skald.KindOf(err) != skald.KindNotFound {
		return t, err
	}
	list, err := tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{t.Scope}})
	if err != nil {
		return t, err
	}
	short, found := t.Session, false
	for _, s := range list {
		if !strings.HasPrefix(s.Ref.ID, short) {
			continue
		}
		if found {
			return t, &skald.Error{Op: "expand", Kind: skald.KindInvalid, Field: "uri",
				Err: fmt.Errorf("two sessions begin with %s: write more of the id", short)}
		}
		t.Session, found = s.Ref.ID, true
	}
	return t, nil
}

package tree

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// staleKind is the kind of the records that name the folders whose texts are out of date. A folder has one however often its children
// change, so that a thousand writes make one refresh, and a killed daemon finds what is left to do.
const staleKind = "tree.stale"

// Stale notes that a folder's texts are out of date. The root of a scope has none.
func Stale(tx skald.Tx, scope skald.Scope, folder skald.URI, now time.Time) error {
	if folder == scope.RootURI() || !strings.HasPrefix(string(folder), string(scope.RootURI())+"/") {
		return nil
	}
	return tx.PutRecord(skald.Record{Scope: scope, Kind: staleKind, ID: string(folder), Updated: now})
}

// IsStale reports a folder whose texts are out of date.
func IsStale(tx skald.Tx, scope skald.Scope, folder skald.URI) (bool, error) {
	_, err := tx.Record(scope, staleKind, string(folder))
	if skald.KindOf(err) == skald.KindNotFound {
		return false, nil
	}
	return err == nil, err
}

// Waiting counts the folders of some scopes whose texts are out of date; no scopes means all.
func Waiting(tx skald.Tx, scopes []skald.Scope) (int, error) {
	list, err := tx.Records(skald.RecordQuery{Scopes: scopes, Kind: staleKind})
	return len(list), err
}

// Refresh brings up to most folders up to date, the deepest first, and says how many it did. A folder whose abstract changed makes its
// parent stale in turn. No scopes means all.
func Refresh(tx skald.Tx, scopes []skald.Scope, most int, now time.Time) (int, error) {
	list, err := tx.Records(skald.RecordQuery{Scopes: scopes, Kind: staleKind})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(list, func(a, b skald.Record) int {
		return cmp.Or(strings.Count(b.ID, "/")-strings.Count(a.ID, "/"), cmp.Compare(a.ID, b.ID))
	})
	list = list[:min(len(list), most)]
	for _, r := range list {
		if err := refresh(tx, r.Scope, skald.URI(r.ID), now); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

func refresh(tx skald.Tx, scope skald.Scope, folder skald.URI, now time.Time) error {
	if err := tx.DeleteRecord(scope, staleKind, string(folder)); err != nil {
		return err
	}
	f, err := tx.File(scope, folder)
	if skald.KindOf(err) == skald.KindNotFound || err == nil && !f.Dir {
		return nil
	}
	if err != nil {
		return err
	}
	before := f.Abstract
	f, changed, err := Fresh(tx, f)
	if err != nil || !changed {
		return err
	}
	if err := tx.PutFile(f); err != nil {
		return err
	}
	if err := Index(tx, f); err != nil || f.Abstract == before {
		return err
	}
	return Stale(tx, scope, folder.Parent(), now)
}

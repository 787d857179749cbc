package sqlite

import (
	"cmp"
	"database/sql/driver"
	"slices"

	"github.com/skald-engine/skald"
)

func (t *tx) Scopes(account string) (out []skald.Scope, err error) {
	if err := t.reading("store.scopes"); err != nil {
		return nil, err
	}
	err = t.rows("scope.list", `SELECT kind, user, agent FROM scope WHERE account = ? AND length(kind) > 0`, []any{account}, func(row []driver.Value) error {
		var kind, user, agent string
		err := scan(row, &kind, &user, &agent)
		out = append(out, skald.Scope{Account: account, Kind: skald.ScopeKind(kind), User: user, Agent: agent})
		return err
	})
	slices.SortFunc(out, func(a, b skald.Scope) int { return cmp.Compare(a.Key(), b.Key()) })
	return out, err
}

// DeleteScope leaves the scope's number and those of its sessions: memories of other scopes may name them.
func (t *tx) DeleteScope(scope skald.Scope) error {
	const op = "store.delete_scope"
	if err := t.writing(op); err != nil {
		return err
	}
	if scope == (skald.Scope{}) {
		return skald.Invalid(op, "scope", "the daemon's own scope is not deleted")
	}
	id, err := t.scopeID(scope)
	if err != nil || id == 0 {
		return err
	}
	if err := t.deleteSessions(scope, id); err != nil {
		return err
	}
	if err := t.deleteDocs(scope, `SELECT id, length FROM doc WHERE scope = ?`, id); err != nil {
		return err
	}
	const sources = `DELETE FROM memory_source WHERE memory IN (SELECT id FROM memory WHERE scope = ?)`
	if err := t.exec("memory_source.purge", sources, id); err != nil {
		return err
	}
	for _, table := range []string{"memory", "file", "record", "dead_letter", "job"} {
		if err := t.exec(table+".purge", `DELETE FROM `+table+` WHERE scope = ?`, id); err != nil {
			return err
		}
	}
	return nil
}

// deleteSessions deletes what stands under any session reference of a scope, also where no session was ever put.
func (t *tx) deleteSessions(scope skald.Scope, id int64) error {
	var ids []string
	err := t.rows("ref.list", `SELECT sid FROM ref WHERE scope = ?`, []any{id}, func(row []driver.Value) error {
		var sid string
		err := scan(row, &sid)
		ids = append(ids, sid)
		return err
	})
	for _, sid := range ids {
		if err := t.DeleteSession(skald.SessionRef{Scope: scope, ID: sid}); err != nil {
			return err
		}
	}
	return err
}

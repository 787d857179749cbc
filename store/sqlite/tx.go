package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

// tx is one transaction: a view on a read connection, or a member of a group on the writer's.
type tx struct {
	store      *Store
	c          *conn
	ctx        context.Context
	writer     *writer // nil in a view
	done       bool
	broken     error // the first failure of the engine: nothing more is tried after it
	own        ids   // numbers that an update has learned or given
	generation int64 // of the document frequencies when the view began
}

var errDone = errors.New("the transaction is over")

// reading guards every method. A view ends with its context; an update that has begun runs to its end.
func (t *tx) reading(op string) error {
	switch {
	case t.done:
		return &skald.Error{Op: op, Kind: skald.KindInvalid, Err: errDone}
	case t.broken != nil:
		return t.broken
	case t.writer == nil:
		return t.ctx.Err()
	}
	return nil
}

func (t *tx) writing(op string) error {
	if t.writer == nil && !t.done {
		return skald.E(op, skald.KindInvalid, "a view cannot write")
	}
	return t.reading(op)
}

// fail remembers a failure of the engine, and gives it its kind.
func (t *tx) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	err = failure("store."+op, err)
	if t.broken == nil {
		t.broken = err
	}
	return err
}

// exec runs a statement that changes something.
func (t *tx) exec(op, query string, args ...any) error {
	_, err := t.c.exec(op, query, args...)
	return t.fail(op, err)
}

// insert is exec for the id of the new row.
func (t *tx) insert(op, query string, args ...any) (id int64, err error) {
	res, err := t.c.exec(op, query, args...)
	if err == nil {
		id, err = res.LastInsertId()
	}
	return id, t.fail(op, err)
}

// row runs a query for one row and returns the function that scans it, which reports whether there was one.
func (t *tx) row(op, query string, args ...any) func(dest ...any) (bool, error) {
	return func(dest ...any) (found bool, err error) {
		err = t.rows(op, query, args, func(row []driver.Value) error {
			found = true
			return scan(row, dest...)
		})
		return found, err
	}
}

// rows calls scan for each row of a query.
func (t *tx) rows(op, query string, args []any, scan func(row []driver.Value) error) error {
	return t.fail(op, t.c.query(op, query, args, scan))
}

// bodies decodes the first column of each row.
func bodies[T any](t *tx, op, query string, args ...any) ([]T, error) {
	var out []T
	err := t.rows(op, query, args, func(row []driver.Value) error {
		var body []byte
		if err := scan(row, &body); err != nil {
			return err
		}
		var v T
		err := record.Decode(body, &v)
		out = append(out, v)
		return err
	})
	return out, err
}

// body is bodies for at most one row.
func body[T any](t *tx, op, query string, args ...any) (v T, found bool, err error) {
	list, err := bodies[T](t, op, query, args...)
	if err != nil || len(list) == 0 {
		return v, false, err
	}
	return list[0], true, nil
}

// limit is a LIMIT: -1 is none.
func limit(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

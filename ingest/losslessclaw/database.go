package losslessclaw

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/skald-engine/skald"
)

var (
	//go:embed conversations.sql
	conversationsSQL string
	//go:embed messages.sql
	messagesSQL string
	//go:embed parts.sql
	partsSQL string
	//go:embed summaries.sql
	summariesSQL string
)

// database is the file, opened for reading. Columns are asked for by name at run time: each version of lossless-claw has some more.
type database struct{ *sql.DB }

func open(path string) (database, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return database{}, skald.E(op, skald.KindInvalid, "%v", err)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		u.RawQuery = "mode=ro&immutable=1" // no log to read: so SQLite need not put its own files beside it
	}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return database{}, skald.E(op, skald.KindUnavailable, "%s: %v", path, err)
	}
	return database{db}, nil
}

// has fails when a table is missing or the file is no database.
func (d database) has(ctx context.Context, table string) error {
	rows, err := d.QueryContext(ctx, "SELECT 1 FROM "+table+" LIMIT 1")
	if err != nil {
		return err
	}
	defer rows.Close()
	rows.Next()
	return rows.Err()
}

// row is one row by the names of its columns.
type row map[string]any

// text is a column as text; "" for NULL and for a column that this version does not have.
func (r row) text(column string) string {
	switch v := r[column].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

// large reports a pointer to a text that was moved out of the row (its column has several names).
func (r row) large() bool {
	for column := range r {
		if strings.HasPrefix(column, "large_content") && r.text(column) != "" && r.text(column) != "0" {
			return true
		}
	}
	return false
}

// rows yields the rows of a query, one at a time.
func (d database) rows(ctx context.Context, query string, args ...any) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		fail := func(err error) {
			yield(nil, skald.E(op, skald.KindUnavailable, "reading the database: %v", err))
		}
		rows, err := d.QueryContext(ctx, query, args...)
		if err != nil {
			fail(err)
			return
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			fail(err)
			return
		}
		values, ptrs := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			ptrs[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(ptrs...); err != nil {
				fail(fmt.Errorf("a row: %w", err))
				return
			}
			r := make(row, len(names))
			for i, n := range names {
				r[n] = values[i]
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			fail(err)
		}
	}
}

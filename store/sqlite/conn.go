package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"

	engine "modernc.org/sqlite"
)

// conn is one connection with its prepared statements. It is used below database/sql, whose pool, locks and conversions would
// cost more than most of the statements. One goroutine at a time.
type conn struct {
	raw   driver.Conn
	stmts map[string]driver.Stmt
	fault func(op string) error
}

// connect opens the file and sets what holds for every connection.
func connect(path string, options Options) (*conn, error) {
	connector, err := engine.NewConnector(dataSource(path))
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, stmts: map[string]driver.Stmt{}, fault: options.Fault}
	for _, pragma := range pragmas(options) {
		if err := c.script(pragma); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// dataSource escapes the path: a plain one would lose what follows a question mark.
func dataSource(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if path[0] != '/' { // C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func pragmas(options Options) []string {
	list := []string{
		`PRAGMA busy_timeout = 5000`,
		`PRAGMA synchronous = FULL`,
		`PRAGMA temp_store = MEMORY`,
		`PRAGMA cache_size = -8000`,
		`PRAGMA wal_autocheckpoint = 2000`,
		`PRAGMA secure_delete = ON`, // what was purged must not stay in a freed page
	}
	if options.NoSync {
		list = append(list, `PRAGMA synchronous = OFF`)
	}
	if runtime.GOOS == "darwin" { // fsync does not reach the disk there
		list = append(list, `PRAGMA fullfsync = ON`, `PRAGMA checkpoint_fullfsync = ON`)
	}
	if options.ReadOnly {
		return append(list, `PRAGMA query_only = ON`)
	}
	return append(list, `PRAGMA journal_mode = WAL`)
}

// script runs a statement that is not worth keeping.
func (c *conn) script(query string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), query, nil)
	return err
}

func (c *conn) prepare(query string) (driver.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.raw.Prepare(query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// exec runs a statement under the name op, which is what Options.Fault sees.
func (c *conn) exec(op, query string, args ...any) (driver.Result, error) {
	if err := c.inject(op); err != nil {
		return nil, err
	}
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	return s.(driver.StmtExecContext).ExecContext(context.Background(), bound(args))
}

// query calls scan for each row, which must not run the same statement again.
func (c *conn) query(op, query string, args []any, scan func(row []driver.Value) error) (err error) {
	if err := c.inject(op); err != nil {
		return err
	}
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), bound(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := scan(row); err != nil {
			return err
		}
	}
}

func (c *conn) inject(op string) error {
	if c.fault == nil {
		return nil
	}
	return c.fault(op)
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// text marks an argument that has to be TEXT: what the full-text index reads.
type text string

// bound turns arguments into what the driver takes. A string becomes a BLOB, since no column holds text.
func bound(args []any) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, a := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: value(a)}
	}
	return list
}

func value(a any) driver.Value {
	switch v := a.(type) {
	case nil, int64, []byte:
		return v
	case int:
		return int64(v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case string:
		return []byte(v)
	case text:
		return string(v)
	}
	panic(fmt.Sprintf("sqlite: cannot bind a %T", a))
}

// scan copies a row into pointers; NULL becomes the zero value.
func scan(row []driver.Value, dest ...any) error {
	for i, d := range dest {
		if err := assign(row[i], d); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

func assign(v driver.Value, dest any) error {
	n, isInt := v.(int64)
	b, isBytes := v.([]byte)
	if s, ok := v.(string); ok {
		b, isBytes = []byte(s), true
	}
	if !isInt && !isBytes && v != nil {
		return fmt.Errorf("unexpected %T", v)
	}
	switch d := dest.(type) {
	case *int64:
		*d = n
	case *int:
		*d = int(n)
	case *bool:
		*d = n != 0
	case *[]byte:
		*d = b
	case *string:
		*d = string(b)
	case *driver.Value:
		*d = v
	default:
		return fmt.Errorf("cannot scan into a %T", dest)
	}
	return nil
}

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"io/fs"

	"github.com/pressly/goose/v3"
	engine "modernc.org/sqlite"

	"github.com/skald-engine/skald"
)

//go:embed migrations/*.sql
var migrations embed.FS

// newestSchema is the number of the last migration, which writes it to the file as user_version.
const newestSchema = 4

// migrate brings the file to the newest schema and returns its number. goose is asked only when there is something to do:
// user_version answers that with one read.
func migrate(ctx context.Context, c *conn, path string, options Options) (int, error) {
	const op = "store.open"
	version, err := c.schemaVersion()
	switch {
	case err != nil:
		return 0, failure(op, err)
	case version == newestSchema:
		return version, failure(op, c.readable())
	case version > newestSchema:
		return 0, skald.E(op, skald.KindUnsupported, "%s has schema %d, this Skald knows %d: made by a newer Skald; upgrade",
			path, version, newestSchema)
	case options.ReadOnly:
		return 0, skald.E(op, skald.KindUnsupported, "%s has schema %d and %d is needed: start the daemon once to migrate it",
			path, version, newestSchema)
	}
	if err := runGoose(ctx, path, options); err != nil {
		return 0, failure(op, err)
	}
	return newestSchema, nil
}

func (c *conn) schemaVersion() (version int, err error) {
	err = c.query("schema.version", `PRAGMA user_version`, nil, func(row []driver.Value) error { return scan(row, &version) })
	return version, err
}

// readable touches the tables that everything hangs on, so that a cut or overwritten file is noticed at the start.
func (c *conn) readable() error {
	for _, query := range []string{
		`SELECT max(id) FROM turn`, `SELECT max(id) FROM doc`, `SELECT max(id) FROM ref`, `SELECT count(*) FROM scope`,
		`SELECT rowid FROM term ORDER BY rowid DESC LIMIT 1`,
	} {
		if _, err := c.exec("schema.check", query); err != nil {
			return err
		}
	}
	return nil
}

func runGoose(ctx context.Context, path string, options Options) (err error) {
	source := dataSource(path)
	if options.NoSync {
		source += "?_pragma=synchronous(OFF)"
	}
	connector, err := engine.NewConnector(source)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithVerbose(false))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

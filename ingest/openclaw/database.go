package openclaw

import (
	"context"
	"database/sql"
	_ "embed" // the queries
	"errors"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the host's database is SQLite too

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
)

//go:embed sessions.sql
var sessionsSQL string

//go:embed events.sql
var eventsSQL string

// pageEvents is how many events one read takes: the host's gateway must not wait for a long one.
const pageEvents = 500

// database is an agent's database, open for reading only.
type database struct {
	*sql.DB
	path   string
	packed bool // large events are compressed (2026.9 and later)
	cold   bool // old sessions are moved into archives (2026.9 and later)
}

func openDatabase(ctx context.Context, path string) (*database, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &database{DB: db, path: path}
	if d.packed, err = d.has(ctx, `SELECT count(*) FROM pragma_table_info('transcript_events') WHERE name = 'event_zstd'`); err == nil {
		d.cold, err = d.has(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'session_transcript_cold_archives'`)
	}
	if err != nil {
		return nil, errors.Join(d.fault(err), db.Close())
	}
	return d, nil
}

func (d *database) has(ctx context.Context, query string) (bool, error) {
	n := 0
	err := d.QueryRowContext(ctx, query).Scan(&n)
	return n > 0, err
}

// query fills in what the host's version has.
func (d *database) query(text string) string {
	bytes, zstd, cold := "octet_length(e.event_json)", "NULL", "0"
	if d.packed {
		bytes, zstd = "coalesce(e.event_utf8_bytes, octet_length(e.event_json))", "e.event_zstd"
	}
	if d.cold {
		cold = "EXISTS (SELECT 1 FROM session_transcript_cold_archives c WHERE c.session_id = w.session_id)"
	}
	return strings.NewReplacer("{bytes}", bytes, "{zstd}", zstd, "{cold}", cold).Replace(text)
}

func (d *database) fault(err error) error {
	return skald.E(op, skald.KindUnavailable, "%s: %w; when the gateway is just being updated, try again later", d.path, err)
}

// databaseSessions lists the sessions of an agent's database; none when there is no database.
func databaseSessions(ctx context.Context, path, agent string) ([]ingest.Conversation, error) {
	d, err := openDatabase(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	rows, err := d.QueryContext(ctx, d.query(sessionsSQL))
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return nil, skald.E(op, skald.KindUnsupported,
			"%s: %w: this version of OpenClaw keeps its sessions in a way that Skald does not know", path, err)
	}
	if err != nil {
		return nil, d.fault(err)
	}
	defer rows.Close()
	var list []ingest.Conversation
	for rows.Next() {
		c := ingest.Conversation{Session: skald.SessionAddress{AgentID: agent}}
		var created int64
		var cold bool
		err := rows.Scan(&c.Session.SessionID, &c.Session.SessionKey, &created, &c.Live, &c.Session.Lifecycle, &c.Title, &c.Size, &cold)
		if err != nil {
			return nil, d.fault(err)
		}
		list = append(list, d.conversation(ctx, c, created, cold))
	}
	if err := rows.Err(); err != nil {
		return nil, d.fault(err)
	}
	return list, nil
}

func (d *database) conversation(ctx context.Context, c ingest.Conversation, created int64, cold bool) ingest.Conversation {
	c.Origin, c.Started = c.Session.SessionKey, time.UnixMilli(created).UTC()
	if !c.Live {
		c.Session.Lifecycle = "" // that of the key's current session
		c.Origin += " (" + c.Session.SessionID + ")"
	}
	switch reason := internal(c.Session.SessionKey); {
	case reason != "":
		return skipped(c, reason)
	case cold:
		return skipped(c, "the host has put this session into its archive of old ones: open it in OpenClaw once, and import again")
	}
	path, id := d.path, c.Session.SessionID
	c.Items = withoutCommands(entries(func(yield func(event, error) bool) { readEvents(ctx, path, id, yield) }, c.Live))
	return c
}

// readEvents yields the events of a session's active path.
func readEvents(ctx context.Context, path, session string, yield func(event, error) bool) {
	d, err := openDatabase(ctx, path)
	if err != nil {
		yield(event{}, err)
		return
	}
	defer d.Close()
	next, last := int64(0), int64(-1) // position of the next page's first event; the sequence that has to stand there, -1 any
	for {
		page, err := d.page(ctx, session, next)
		switch {
		case err != nil:
			yield(event{}, d.fault(err))
			return
		case last >= 0 && (len(page) == 0 || page[0].seq != last):
			yield(event{}, errors.New("the host changed the session while it was read: import again"))
			return
		}
		if last >= 0 {
			page = page[1:] // read already
		}
		for _, e := range page {
			if !yield(e, nil) {
				return
			}
			next, last = e.active, e.seq
		}
		if len(page) < pageEvents-1 {
			return
		}
	}
}

func (d *database) page(ctx context.Context, session string, from int64) ([]event, error) {
	rows, err := d.QueryContext(ctx, d.query(eventsSQL), session, from, pageEvents)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []event
	for rows.Next() {
		var e event
		var position sql.NullInt64
		var text sql.NullString
		var packed []byte
		if err := rows.Scan(&e.active, &e.seq, &position, &text, &packed); err != nil {
			return nil, err
		}
		raw := []byte(text.String)
		if !text.Valid {
			raw, e.fault = unpack(packed)
		}
		if e.fault == nil {
			e.read(raw)
		}
		e.position = -1
		if position.Valid {
			e.position = position.Int64
		}
		page = append(page, e)
	}
	return page, rows.Err()
}

// events is the path of one session.
type events = iter.Seq2[event, error]

package doctor

import (
	"context"
	"database/sql"
	_ "embed" // the queries
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the host's database is SQLite too

	"github.com/skald-engine/skald"
)

// agentDB is a host agent's database, open for reading only.
type agentDB struct{ *sql.DB }

func openAgent(path string) (agentDB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(2000)"}
	db, err := sql.Open("sqlite", u.String())
	return agentDB{db}, err
}

// queued counts the exchanges that the host still has to deliver (spec/04, 5.6).
func (db agentDB) queued(ctx context.Context, agent string) Finding {
	const check = "deliveries"
	var n int
	var oldest sql.NullInt64
	var fault sql.NullString
	err := db.QueryRowContext(ctx, queuedSQL).Scan(&n, &oldest, &fault)
	switch {
	case missing(err):
		return good(check, "agent %s: this host version keeps no outbox", agent)
	case err != nil:
		return warn(check, "", "agent %s: the outbox cannot be read: %v", agent, err)
	case n == 0:
		return good(check, "agent %s: nothing is queued", agent)
	}
	since := time.UnixMilli(oldest.Int64).UTC().Format(time.RFC3339)
	cause := "none failed so far"
	if fault.String != "" {
		cause = "last error: " + fault.String
	}
	return warn(check, "see that the daemon runs: the host repeats each before the session's next turn",
		"agent %s: %d exchanges are queued, the oldest since %s; %s", agent, n, since, cause)
}

//go:embed queued.sql
var queuedSQL string

//go:embed lastturns.sql
var lastTurnsSQL string

// grace is how much newer a host's turn may be than what is stored: it may be under way.
const grace = time.Minute

// behind compares the host's last turn of each session with the last one stored.
func (db agentDB) behind(ctx context.Context, agent string, i skald.Inspector, id skald.Identity) Finding {
	const check = "sessions behind"
	if i == nil {
		return warn(check, "start the daemon, or name a data folder with --data",
			"agent %s: no daemon answers, so its sessions cannot be compared with what is stored", agent)
	}
	id.Agent = agent
	stored, err := i.ListSessions(ctx, id, 0)
	if err != nil {
		return warn(check, "", "the stored sessions cannot be read: %v", err)
	}
	rows, err := db.QueryContext(ctx, lastTurnsSQL)
	if missing(err) {
		return good(check, "agent %s: this host version keeps its transcripts elsewhere", agent)
	}
	if err != nil {
		return warn(check, "", "agent %s: the transcripts cannot be read: %v", agent, err)
	}
	defer rows.Close()
	late, total, err := compare(rows, stored)
	switch {
	case err != nil:
		return warn(check, "", "agent %s: the transcripts cannot be read: %v", agent, err)
	case len(late) > 0:
		return warn(check, "a session catches up before its next turn; nothing is lost",
			"agent %s: %d of %d sessions have turns that are not stored yet: %s", agent, len(late), total, some(late))
	}
	return good(check, "agent %s: none of %d", agent, total)
}

func compare(rows *sql.Rows, stored []skald.SessionInfo) (late []string, total int, err error) {
	updated := map[string]time.Time{}
	for _, s := range stored {
		updated[s.ID] = s.Updated
	}
	for rows.Next() {
		var key, id string
		var last int64
		if err := rows.Scan(&key, &id, &last); err != nil {
			return late, total, err
		}
		if strings.Contains(key, "internal-session-effects:") {
			continue
		}
		total++
		at, known := updated[skald.SessionID(id, key)]
		if newest := time.UnixMilli(last); !known || newest.After(at.Add(grace)) {
			late = append(late, fmt.Sprintf("%s (%s)", key, newest.UTC().Format(time.RFC3339)))
		}
	}
	return late, total, rows.Err()
}

func missing(err error) bool { return err != nil && strings.Contains(err.Error(), "no such table") }

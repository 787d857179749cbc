package world

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the host's own database, read-only
)

// Transcript reads the messages of a session out of the host's own database, byte for byte as the host wrote them, in order.
func (w *World) Transcript(key string) ([][]byte, error) {
	return w.transcript(key, "w.session_key = ?", key)
}

// TranscriptOf reads the messages of one session id: a rewind or a branch gives the key a new one.
func (w *World) TranscriptOf(key, sessionID string) ([][]byte, error) {
	return w.transcript(key, "e.session_id = ?", sessionID)
}

func (w *World) transcript(key, where, value string) ([][]byte, error) {
	agent, _, _ := strings.Cut(strings.TrimPrefix(key, "agent:"), ":")
	path := filepath.Join(w.Gateway.StateDir(), "agents", agent, "agent", "openclaw-agent.sqlite")
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT e.seq, e.event_json FROM transcript_events e JOIN session_windows w USING (session_id)
		WHERE `+where+` ORDER BY w.created_at, e.seq`, value)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list [][]byte
	for rows.Next() {
		var seq int64
		var event sql.NullString
		if err := rows.Scan(&seq, &event); err != nil {
			return nil, err
		}
		if !event.Valid {
			return nil, fmt.Errorf("event %d of %s is compressed: too large for this check", seq, value)
		}
		var e struct {
			Type    string          `json:"type"`
			Message json.RawMessage `json:"message"`
		}
		if err := json.Unmarshal([]byte(event.String), &e); err != nil {
			return nil, err
		}
		if e.Type == "message" {
			list = append(list, e.Message)
		}
	}
	return list, rows.Err()
}

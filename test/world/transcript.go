package world

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skald-engine/skald/test/gateway"

	_ "modernc.org/sqlite" // the host's own database, read-only
)

// Transcript reads the messages of a session out of the host's own database, byte for byte as the host wrote them, in order.
func (w *World) Transcript(key string) ([][]byte, error) {
	list, err := w.transcript(key, "w.session_key = ?", key)
	return messages(list), err
}

// Path reads the messages on the path to the newest message of one session id: a rewind or a branch gives the key a new id, whose
// events are copies of all the old ones.
func (w *World) Path(key, sessionID string) ([][]byte, error) {
	list, err := w.transcript(key, "e.session_id = ?", sessionID)
	var path []event
	for i, next := len(list)-1, ""; i >= 0; i-- {
		switch e := list[i]; {
		case next == "" && e.Type == "message", e.ID == next:
			path, next = append(path, e), e.Parent
		}
	}
	slices.Reverse(path)
	return messages(path), err
}

// event is one entry of the host's transcript.
type event struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Parent  string          `json:"parentId"`
	Message json.RawMessage `json:"message"`
}

func messages(list []event) (out [][]byte) {
	for _, e := range list {
		if e.Type == "message" {
			out = append(out, e.Message)
		}
	}
	return out
}

func (w *World) transcript(key, where, value string) ([]event, error) {
	agent, _, _ := strings.Cut(strings.TrimPrefix(key, "agent:"), ":")
	path := filepath.Join(w.Gateway.StateDir(), "agents", agent, "agent", "openclaw-agent.sqlite")
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT e.event_json, `+packedColumn(db)+` FROM transcript_events e JOIN session_windows w USING (session_id)
		WHERE `+where+` ORDER BY w.created_at, e.seq`, value)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events, packed [][]byte
	for rows.Next() {
		var event sql.NullString
		var zstd []byte
		if err := rows.Scan(&event, &zstd); err != nil {
			return nil, err
		}
		if !event.Valid {
			packed = append(packed, zstd)
			events = append(events, nil)
			continue
		}
		events = append(events, []byte(event.String))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	unpacked, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	list := make([]event, len(events))
	for i, raw := range events {
		if raw == nil {
			raw, unpacked = unpacked[0], unpacked[1:]
		}
		if err := json.Unmarshal(raw, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// packedColumn is where large events stand; OpenClaw 2026.8.1 packs none.
func packedColumn(db *sql.DB) string {
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM pragma_table_info('transcript_events') WHERE name = 'event_zstd'`).Scan(&n); err != nil || n == 0 {
		return "NULL"
	}
	return "e.event_zstd"
}

// unpack decompresses large events with the host's own Node: Go's library has no zstd.
func unpack(packed [][]byte) ([][]byte, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	node, _, err := gateway.Locate()
	if err != nil {
		return nil, err
	}
	const script = `const z = require("zlib"), list = JSON.parse(require("fs").readFileSync(0, "utf8"));
		process.stdout.write(JSON.stringify(list.map((b) => z.zstdDecompressSync(Buffer.from(b, "base64")).toString("base64"))))`
	in, err := json.Marshal(packed)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(node, "-e", script)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("decompress events of the host: %w", err)
	}
	var list [][]byte
	return list, json.Unmarshal(out, &list)
}

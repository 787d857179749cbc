package openclaw

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// Older hosts kept a session as a file of events, <session id>.jsonl, and in sessions.json which key it belongs to.

// fileSessions lists the sessions of such a folder; none when there is none. With current, the sessions of sessions.json are those that
// the host goes on with.
func fileSessions(folder, agent string, current bool) ([]ingest.Conversation, error) {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, skald.E(op, skald.KindInvalid, "%w", err)
	}
	keys, err := fileKeys(filepath.Join(folder, "sessions.json"))
	if err != nil {
		return nil, err
	}
	var list []ingest.Conversation
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".jsonl")
		info, err := f.Info()
		if !ok || err != nil || !info.Mode().IsRegular() {
			continue
		}
		key, known := keys[id]
		c := ingest.Conversation{Origin: filepath.Join(folder, f.Name()), Size: info.Size(), Live: current && known,
			Session: skald.SessionAddress{SessionID: id, SessionKey: key, AgentID: agent}}
		list = append(list, fileConversation(c))
	}
	slices.SortStableFunc(list, func(a, b ingest.Conversation) int { return a.Started.Compare(b.Started) })
	return list, nil
}

// fileKeys reads which key a session id belongs to.
func fileKeys(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries map[string]struct {
		SessionID string `json:"sessionId"`
	}
	if err == nil {
		err = json.Unmarshal(text, &entries)
	}
	if err != nil {
		return nil, skald.E(op, skald.KindInvalid, "%s: %w", path, err)
	}
	keys := map[string]string{}
	for key, e := range entries {
		keys[e.SessionID] = key
	}
	return keys, nil
}

func fileConversation(c ingest.Conversation) ingest.Conversation {
	if reason := internal(c.Session.SessionKey); reason != "" {
		return skipped(c, reason)
	}
	path := c.Origin
	c.Started = started(path)
	c.Items = entries(func(yield func(event, error) bool) {
		active, err := filePath(path)
		if err != nil {
			yield(event{}, err)
			return
		}
		position := int64(0)
		for e, err := range fileEvents(path) {
			if err != nil {
				yield(event{}, err)
				return
			}
			if !active[e.seq] && e.fault == nil {
				continue
			}
			e.position = -1
			if e.Type == "message" || e.Type == "reset" {
				e.position = position
				position++
			}
			if !yield(e, nil) {
				return
			}
		}
	}, c.Live)
	return c
}

// fileEvents yields the events of a file, each with its line.
func fileEvents(path string) events {
	return func(yield func(event, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(event{}, err)
			return
		}
		defer file.Close()
		for l, err := range record.Lines(file) {
			if err != nil {
				yield(event{}, fmt.Errorf("%s: %w", path, err))
				return
			}
			e := event{seq: int64(l.Number), where: fmt.Sprintf("%s:%d", path, l.Number)}
			if l.TooLong {
				e.fault = fmt.Errorf("the line is longer than %d MB", record.MaxLine>>20)
			} else {
				e.read(l.Text)
			}
			if e.ID == "" && e.Type == "message" { // the first versions gave none
				e.ID = record.Derived(filepath.Base(path), fmt.Sprint(l.Number), string(e.Message))
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// filePath is the lines of the active path: from the newest event back through its parents. Files of the first versions have no parents,
// and every line of them counts.
func filePath(path string) (map[int64]bool, error) {
	type node struct {
		seq    int64
		parent string
	}
	nodes, all := map[string]node{}, map[int64]bool{}
	leaf, linked := "", false
	for e, err := range fileEvents(path) {
		if err != nil {
			return nil, err
		}
		all[e.seq] = true
		switch {
		case e.fault != nil || e.Type == "session":
			continue
		case e.Type == "leaf":
			leaf = e.Target
			continue
		}
		nodes[e.ID] = node{e.seq, e.Parent}
		leaf, linked = e.ID, linked || e.Parent != ""
	}
	if !linked {
		return all, nil
	}
	active := map[int64]bool{}
	for n, ok := nodes[leaf]; ok && !active[n.seq]; n, ok = nodes[n.parent] {
		active[n.seq] = true
	}
	return active, nil
}

// started is the time in a file's first line; zero when it tells none.
func started(path string) time.Time {
	for e, err := range fileEvents(path) {
		if err != nil || e.fault != nil {
			break
		}
		at, err := time.Parse(time.RFC3339Nano, e.Timestamp)
		if err != nil {
			break
		}
		return at.UTC()
	}
	return time.Time{}
}

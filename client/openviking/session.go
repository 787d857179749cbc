package openviking

import (
	"context"
	"net/http"
	"net/url"

	"github.com/skald-engine/skald"
)

const sessions = "/api/v1/sessions"

// Part is one part of a message, with OpenViking's keys.
type Part map[string]any

// Text makes a text part.
func Text(text string) Part { return Part{"type": "text", "text": text} }

// Message is a message to append, or one that was read back. The server gives the id.
type Message struct {
	ID        string   `json:"id,omitempty"`
	Role      string   `json:"role"`
	Parts     []Part   `json:"parts"`
	CreatedAt string   `json:"created_at,omitempty"`
	Peer      string   `json:"peer_id,omitempty"`
	Turn      string   `json:"turn_id,omitempty"`
	Kind      string   `json:"message_kind,omitempty"`
	Sources   []string `json:"source_message_ids,omitempty"`
}

// Session is what the server knows of a session.
type Session struct {
	ID      string `json:"session_id"`
	URI     string `json:"uri"`
	Live    int    `json:"message_count"` // messages that no archive holds
	Commits int    `json:"commit_count"`  // index of the newest archive, failed ones included
}

// CreateSession makes a session that the server never archives by itself. KindExists when it is there.
func (c *Client) CreateSession(ctx context.Context, id string) error {
	body := map[string]any{"session_id": id, "auto_commit_policy": nil}
	return c.call(ctx, http.MethodPost, sessions, nil, body, nil)
}

// Session reads a session. KindNotFound when there is none.
func (c *Client) Session(ctx context.Context, id string) (s Session, err error) {
	err = c.call(ctx, http.MethodGet, sessions+"/"+segment(id), nil, nil, &s)
	return s, err
}

// DeleteSession removes a session with its messages and archives; none is no error. The memories that were made of it stay.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodDelete, sessions+"/"+segment(id), nil, nil, nil)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	return err
}

// Sessions lists the user's sessions, the newest first.
func (c *Client) Sessions(ctx context.Context) (list []Session, err error) {
	err = c.call(ctx, http.MethodGet, sessions, nil, nil, &list)
	return list, err
}

// Append adds messages to a session in one request; 100 is the most.
func (c *Client) Append(ctx context.Context, id string, list []Message) error {
	return c.call(ctx, http.MethodPost, sessions+"/"+segment(id)+"/messages/batch", nil, map[string]any{"messages": list}, nil)
}

// AppendOne adds one message, for servers without Append.
func (c *Client) AppendOne(ctx context.Context, id string, m Message) error {
	return c.call(ctx, http.MethodPost, sessions+"/"+segment(id)+"/messages", nil, m, nil)
}

// Commit is the answer to a commit.
type Commit struct {
	Status  string `json:"status"` // accepted, skipped
	Task    string `json:"task_id"`
	Archive string `json:"archive_uri"`
}

// Commit archives all messages of a session. The server goes on in the background, under the task.
func (c *Client) Commit(ctx context.Context, id string) (done Commit, err error) {
	err = c.call(ctx, http.MethodPost, sessions+"/"+segment(id)+"/commit", nil, map[string]any{}, &done)
	return done, err
}

// Task is the state of a background task: pending, running, cancelling, completed, failed, cancelled.
type Task struct {
	Status string `json:"status"`
	Error  string `json:"error"`
}

// Ended reports whether nothing more will happen.
func (t Task) Ended() bool {
	return t.Status == "completed" || t.Status == "failed" || t.Status == "cancelled"
}

// Task reads a task. KindNotFound when the server has forgotten it.
func (c *Client) Task(ctx context.Context, id string) (t Task, err error) {
	err = c.call(ctx, http.MethodGet, "/api/v1/tasks/"+segment(id), nil, nil, &t)
	return t, err
}

// User is the user's id, as the server has it.
func (c *Client) User(ctx context.Context) (string, error) {
	var status struct {
		User string `json:"user"`
	}
	err := c.call(ctx, http.MethodGet, "/api/v1/system/status", nil, nil, &status)
	return status.User, err
}

func uriQuery(uri string) url.Values { return url.Values{"uri": {uri}} }

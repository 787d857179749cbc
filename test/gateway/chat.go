package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Chat types a message into a session over chat.send, where /commands work, and returns what the chat shows at the end: the text of the
// final chat event of that run, which hooks may have changed on its way.
func (g *Gateway) Chat(ctx context.Context, sessionKey, message string) (string, error) {
	c, err := g.connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.close()
	id := fmt.Sprintf("chat-%d", time.Now().UnixNano())
	out, err := json.Marshal(frame{Type: "req", ID: id, Method: "chat.send",
		Params: map[string]any{"sessionKey": sessionKey, "message": message, "idempotencyKey": id}})
	if err != nil {
		return "", err
	}
	if err := c.write(1, out); err != nil {
		return "", err
	}
	for {
		data, err := c.read()
		if err != nil {
			return "", err
		}
		if text, done, err := finalText(data, id); done || err != nil {
			return text, err
		}
	}
}

// finalText reads the final event of a run out of a frame. The run has the idempotency key of its chat.send.
func finalText(data []byte, run string) (text string, done bool, err error) {
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return "", false, err
	}
	if f.Type == "res" && f.ID == run && !f.OK {
		return "", true, errors.Join(errors.New("chat.send was refused"), f.Error)
	}
	var event struct {
		RunID        string `json:"runId"`
		State        string `json:"state"`
		ErrorMessage string `json:"errorMessage"`
		Message      struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"message"`
	}
	if f.Type != "event" || f.Event != "chat" || json.Unmarshal(f.Payload, &event) != nil || event.RunID != run {
		return "", false, nil
	}
	switch event.State {
	case "final":
		var parts []string
		for _, p := range event.Message.Content {
			parts = append(parts, p.Text)
		}
		return strings.Join(parts, "\n"), true, nil
	case "error", "aborted":
		return "", true, fmt.Errorf("chat: %s: %s", event.State, event.ErrorMessage)
	}
	return "", false, nil
}

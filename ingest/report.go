package ingest

import (
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// Report says what an import did, or, after a dry run, would do.
type Report struct {
	Source        string               `json:"source"`
	DryRun        bool                 `json:"dry_run"`
	Conversations []ConversationReport `json:"conversations"`
	Messages      int                  `json:"messages"` // read
	Imported      int                  `json:"imported"`
	Known         int                  `json:"known"`    // stored before
	LeftOut       int                  `json:"left_out"` // older than --since, or beyond --limit
	Skipped       int                  `json:"skipped"`
	Reasons       map[string]int       `json:"skipped_reasons"`
	Skips         []Skip               `json:"skips"` // the first maxSkips of them
	Bytes         int64                `json:"bytes"`
	Seconds       float64              `json:"seconds"`
	Complete      bool                 `json:"complete"` // nothing is left for another run
}

// ConversationReport is what became of one conversation.
type ConversationReport struct {
	Origin    string    `json:"origin"`
	Title     string    `json:"title,omitempty"`
	SessionID string    `json:"session_id"` // as Skald stores it
	Agent     string    `json:"agent"`
	Live      bool      `json:"live"` // the host goes on with this very session
	Messages  int       `json:"messages"`
	Imported  int       `json:"imported"`
	Known     int       `json:"known"`
	LeftOut   int       `json:"left_out"`
	Skipped   int       `json:"skipped"`
	From      time.Time `json:"from,omitzero"` // of the messages that tell their time; zero when none does
	To        time.Time `json:"to,omitzero"`
	Committed bool      `json:"committed"` // summary and memories are being written
	Fault     string    `json:"fault,omitempty"`
}

// Skip is something that was not imported.
type Skip struct {
	Origin string `json:"origin"`
	Where  string `json:"where"`
	Reason string `json:"reason"`
}

// maxSkips bounds the list of a report; Skipped and Reasons count all.
const maxSkips = 1000

func (r *Report) skip(c *ConversationReport, where, reason string) {
	c.Skipped++
	r.Skipped++
	r.Reasons[reason]++
	if len(r.Skips) < maxSkips {
		r.Skips = append(r.Skips, Skip{Origin: c.Origin, Where: where, Reason: reason})
	}
}

func newConversation(c Conversation, id skald.Identity) ConversationReport {
	agent := c.Session.AgentID
	if agent == "" {
		agent = id.Agent
	}
	return ConversationReport{Origin: c.Origin, Title: c.Title, Agent: agent, Live: c.Live,
		SessionID: skald.SessionID(c.Session.SessionID, c.Session.SessionKey)}
}

// span widens the times of a conversation.
func (c *ConversationReport) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if c.From.IsZero() || at.Before(c.From) {
		c.From = at
	}
	if at.After(c.To) {
		c.To = at
	}
}

// stopped says what became of the messages before a fault, and how to go on.
func (r Report) stopped(err error) error {
	what := fmt.Errorf("stopped after %d messages were imported and %d were found stored: %w; all of them stay, and the same command "+
		"goes on where this one stopped", r.Imported, r.Known, err)
	return &skald.Error{Op: "ingest.import", Kind: skald.KindOf(err), Err: what}
}

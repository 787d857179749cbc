package skald

import "time"

// RemoteHealth describes the server that a store keeps its sessions on, and the outbox of what that server lacks.
type RemoteHealth struct {
	URL       string    `json:"url"`
	Version   string    `json:"version,omitempty"`
	Reachable bool      `json:"reachable"` // it answered when it was last asked
	Seen      time.Time `json:"seen,omitzero"`
	Turns     int64     `json:"undelivered_turns"`
	Changes   int       `json:"undelivered_changes"` // forgettings, memories stored on request, deletions
	Oldest    time.Time `json:"oldest_undelivered,omitzero"`
	Waiting   int       `json:"archives_in_work"` // archives of which the server still makes memories
	Error     string    `json:"error,omitempty"`  // the newest, "" when all is well
	Refused   string    `json:"refused,omitempty"`
}

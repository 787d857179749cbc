package wire

// Name is the name that a daemon gives itself in a handshake.
const Name = "skald"

// Handshake says who answers: how a daemon is recognised, whatever listens on its port.
type Handshake struct {
	Name        string `json:"name"` // "skald"
	Version     string `json:"version"`
	Protocol    int    `json:"protocol"`
	MinProtocol int    `json:"min_protocol"`
	Instance    string `json:"instance"` // changes with every start
	PID         int    `json:"pid"`
}

// ContextQuery is the body of POST /engine/v1/context.
type ContextQuery struct {
	Session string `json:"session"`
	Prompt  string `json:"prompt"`
	Budget  int    `json:"budget,omitempty"` // tokens
}

// CommitQuery is the body of POST /engine/v1/commit.
type CommitQuery struct {
	Session string `json:"session"`
	Wait    bool   `json:"wait,omitempty"`
}

// JobQuery is the body of POST /engine/v1/jobs/retry and /engine/v1/jobs/cancel.
type JobQuery struct {
	Job int64 `json:"job"`
}

// DeleteQuery is the body of POST /engine/v1/sessions/delete.
type DeleteQuery struct {
	Session string `json:"session"`
}

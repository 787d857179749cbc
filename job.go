package skald

import (
	"context"
	"encoding/json"
)

// Worker does the jobs of one Kind. It is handed to the engine, which claims jobs and keeps their leases.
type Worker interface {
	// Work does a job, or goes on with one that was killed half-way: a step that is done must not be done twice. progress makes known
	// how far it is and may be called often. An error is tried again later, with growing pauses and a bounded number of times, unless
	// its kind says that repeating does not help (invalid, not found, permission, exists, unsupported). ctx ends when the job is
	// cancelled or the daemon stops.
	Work(ctx context.Context, j Job, progress func(JobNote) error) (JobNote, error)
}

// JobNote is what such a job tells of itself: Job.Result, as JSON. Whoever puts the job writes a first one with its Resource.
type JobNote struct {
	Resource string          `json:"resource,omitempty"` // what it works on, a URI or an id
	Stage    string          `json:"stage,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`   // an object: counts and the like
	Result   json.RawMessage `json:"result,omitempty"` // an object, once it is done
}

// Note reads the job's note; a job that has none has an empty one.
func (j Job) Note() JobNote {
	var n JobNote
	if json.Unmarshal([]byte(j.Result), &n) != nil {
		return JobNote{}
	}
	return n
}

// WithNote is the job with a note.
func (j Job) WithNote(n JobNote) Job {
	b, err := json.Marshal(n)
	if err == nil { // raw members that are no JSON are left out as a whole
		j.Result = string(b)
	}
	return j
}

package trial

import "time"

// Report is the outcome of a trial. Its JSON keys are fixed.
type Report struct {
	Source      string       `json:"source"`
	Window      int          `json:"window_tokens"` // the model's context window
	Budget      int          `json:"budget_tokens"` // of it, for messages
	From        time.Time    `json:"from"`
	To          time.Time    `json:"to"`
	Messages    int          `json:"messages"`
	Exchanges   int          `json:"exchanges"`
	Skipped     int          `json:"skipped_messages"`
	Seconds     float64      `json:"seconds"`
	Legacy      Figures      `json:"legacy"`
	Skald       Figures      `json:"skald"`
	Avoided     Avoided      `json:"avoided"`
	Sessions    []Session    `json:"sessions"`
	Facts       []Repetition `json:"facts_repeated"`
	Rereads     []Repetition `json:"read_again"`
	Assumptions []string     `json:"assumptions"`
}

// Figures are those of one way over one session, or over all. Tokens are the host's estimate.
type Figures struct {
	Requests   int     `json:"requests"`
	Tokens     int     `json:"tokens"`       // of all requests
	Largest    int     `json:"max_request"`  // tokens
	Mean       float64 `json:"mean_request"` // tokens
	Cached     int     `json:"cached_tokens"`
	Cacheable  float64 `json:"cacheable_share"`    // of all tokens: readable from a provider's cache by the longest common beginning
	Kept       float64 `json:"prefix_kept"`        // of each request's tokens up to its prompt, the share that the next one of the session begins with
	OverWindow int     `json:"over_window"`        // requests over the budget, or refused because nothing fits
	Changes    int     `json:"view_changes"`       // compactions of legacy, publications of Skald
	OutOfView  int     `json:"turns_out_of_view"`  // at the end of the sessions: no longer raw in the request
	References int     `json:"references"`         // values in prompts that stood in the history before
	InView     int     `json:"references_in_view"` // of them, those that the request held

	kept, keptOf int // tokens
}

// Avoided counts what would not have happened.
type Avoided struct {
	Facts        int `json:"facts"`              // repeated by the user, lost to legacy, shown by Skald without that repetition
	FactsOnlyNow int `json:"facts_only_now"`     // the same, but Skald showed it only because the user's repetition named it: not counted
	FactTokens   int `json:"fact_tokens"`        // of the repeated sentences
	Rereads      int `json:"rereads"`            // calls repeated with an unchanged result, lost to legacy, whole in Skald's request
	RereadTokens int `json:"reread_tokens"`      // of these calls and results
	Expandable   int `json:"rereads_expandable"` // the same, but in Skald only reachable by memory_expand: not counted
	ExpandTokens int `json:"expandable_tokens"`
}

// Session is one session of the trial.
type Session struct {
	Number    int       `json:"number"`
	Name      string    `json:"name"`
	Origin    string    `json:"origin"`
	Agent     string    `json:"agent"`
	Started   time.Time `json:"started"`
	Messages  int       `json:"messages"`
	Exchanges int       `json:"exchanges"`
	Facts     int       `json:"facts_avoided"`
	Rereads   int       `json:"rereads_avoided"`
	Legacy    Figures   `json:"legacy"`
	Skald     Figures   `json:"skald"`
	Points    []Point   `json:"exchange_points"`
}

// Point is one exchange: the first request of it, both ways.
type Point struct {
	Turn   int       `json:"turn"` // index of the prompt among the session's messages, from 0
	Time   time.Time `json:"time"`
	Legacy Reading   `json:"legacy"`
	Skald  Reading   `json:"skald"`
}

// Reading is what one request showed.
type Reading struct {
	Tokens     int  `json:"tokens"`
	Cached     int  `json:"cached_tokens"`
	Shared     int  `json:"shared_tokens"` // with the previous request of the session
	OutOfView  int  `json:"turns_out_of_view"`
	Changed    bool `json:"view_changed"`
	Refused    bool `json:"refused"`
	References int  `json:"references"`
	InView     int  `json:"references_in_view"`
}

// Repetition is something that was said or done again. Counted tells whether it counts as avoided.
type Repetition struct {
	Kind    string   `json:"kind"` // fact, file, command
	Counted bool     `json:"counted"`
	Why     string   `json:"why"`           // how Skald had it, in words
	Cue     string   `json:"cue,omitempty"` // the user's own words for "I said so before"
	What    []string `json:"what"`          // the values, or the call
	Tokens  int      `json:"tokens"`        // that the repetition cost
	Now     Quote    `json:"now"`
	Earlier Quote    `json:"earlier"`
}

// Quote is a turn, so that a reader can check.
type Quote struct {
	Session int       `json:"session"`
	Turn    int       `json:"turn"` // index among the session's messages, from 0
	Time    time.Time `json:"time"`
	Text    string    `json:"text"`
}

// The kinds of a repetition.
const kindFact = "fact"

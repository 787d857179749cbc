// Package strategy holds the ways to choose and shrink context. A strategy is a pure choice: it reads what the engine hands it
// and the transaction, and returns messages; the engine places recalls, moves the published point and keeps the trace.
package strategy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Strategy chooses what the model sees.
type Strategy interface {
	Name() string
	// Assemble chooses the messages before the prompt, within in.Budget tokens (I6). KindBudget when that is impossible.
	Assemble(ctx context.Context, tx skald.Tx, in Input) (Output, error)
	// Publish chooses how far summaries replace raw turns; the zero Publication changes nothing.
	Publish(tx skald.Tx, in Input, target Target) (Publication, error)
}

// Settings are the configuration keys that strategies obey (000-125, 000-126).
type Settings struct {
	AutoRecall     bool
	Limit          int     // recalled items; 0: the budget decides
	Threshold      float64 // 0..1
	MaxChars       int     // characters an item
	PreferAbstract bool
	RecallTokens   int // tokens of one recall
	RecentTurns    int // raw turns that stay
	Window         int // user turns that form the query
	Form           string
}

// Input is what a strategy chooses from.
type Input struct {
	Session  skald.Session
	Scopes   []skald.Scope
	Settings Settings
	Prompt   string
	Budget   int // tokens for everything before the prompt
	Model    string
	Provider string
	NoTools  bool // the request offers no tools
	Search   bool // the host exposes tools through its tool search
	Talk     bool // the prompt is a person's: heartbeats and cron prompts get no recall
	TurnID   string
	Now      time.Time
	Deadline time.Time            // when recall is cut to what is ready; zero: none
	NoRecall string               // why no recall is made; ""
	Admit    func(skald.Doc) bool // what may be recalled; nil: everything
}

// Output is what a strategy chose.
type Output struct {
	Messages  []json.RawMessage
	Tokens    int
	Head      int   // tokens of the first message
	RawFrom   int64 // sequences of the raw turns shown; 0 when none
	RawTo     int64
	Recall    *skald.PlacedRecall // a new one, to be kept where it stands
	Trace     skald.RecallTrace
	Missed    bool // recall ran into its deadline
	Cut       []string
	Summaries []skald.CompactSummary
	Profile   []string
}

func tooSmall(in Input) error {
	return skald.E("assemble", skald.KindBudget, "a budget of %d tokens is below the minimum of %d", in.Budget, MinBudget)
}

// outputOf says what stands in a fitted view; its messages are rendered with the recall for the prompt.
func outputOf(f fitted) Output {
	out := Output{Head: f.headTokens, Cut: f.cut}
	if len(f.list) > 0 {
		out.RawFrom, out.RawTo = f.list[0].first(), f.list[len(f.list)-1].last()
	}
	return out
}

// Patient is a strategy that does not shrink what the model sees because it grows: no commit is made for pressure.
type Patient interface{ Patient() }

// Target says how small the view shall become.
type Target struct {
	Tokens int  // for head and raw turns together
	Keep   int  // raw turns that stay at least
	Force  bool // publish even when little is gained (compact, overflow)
}

// Publication is a move of the published point.
type Publication struct {
	Through   int64  // last sequence that summaries replace; 0: no publication
	Head      string // the new first message, serialised; may be empty
	Before    int    // tokens
	After     int
	Summary   string // the text of the head
	FirstKept int64  // sequence of the first turn that stays raw
}

var strategies = []Strategy{Viking{}, Legacy{}, Dag{}, Rag{}, Tiered{}, Task{}}

// Default is the strategy of document 000.
const Default = "viking"

// ByName finds a strategy; "" is the default. KindInvalid names the known ones.
func ByName(name string) (Strategy, error) {
	if name == "" {
		name = Default
	}
	for _, s := range strategies {
		if s.Name() == name {
			return s, nil
		}
	}
	return nil, skald.Invalid("strategy", "strategy", "%q is not known; known are: %s", name, strings.Join(Names(), ", "))
}

// Names lists the known strategies.
func Names() []string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.Name())
	}
	slices.Sort(names)
	return names
}

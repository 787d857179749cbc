package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Stage is a part of recall that can be left out, to measure what it is worth. Its name is that of the score that it leaves in the trace,
// where it leaves one.
type Stage string

// The stages, in the order in which they work.
const (
	StageWindow     Stage = "window"     // the earlier turns of the asking session
	StageMeaning    Stage = "meaning"    // what means the same in other words
	StageNotes      Stage = "notes"      // memories and archives, beside the turns
	StageExact      Stage = "exact"      // identifiers and numbers count more
	StagePhrase     Stage = "phrase"     // so do words that stand side by side as asked
	StageRole       Stage = "role"       // what people said before what the agent wrote
	StageType       Stage = "type"       // memories before turns before archives
	StageAge        Stage = "age"        // the newer of two equal texts
	StageTime       Stage = "time"       // what was said in the times that the question names
	StageNear       Stage = "near"       // neighbours within a session
	StageThreshold  Stage = "threshold"  // what covers too little is left out
	StageDedupe     Stage = "dedupe"     // nothing twice
	StageSuperseded Stage = "superseded" // what something newer replaces stands back
	StageSilence    Stage = "silence"    // little is shown where little answers
	StageLength     Stage = "length"     // long items have to be worth what they take
	StageGroups     Stage = "groups"     // items of a session that is shown already come first
)

// Stages lists them all.
func Stages() []Stage {
	return []Stage{StageWindow, StageMeaning, StageNotes, StageExact, StagePhrase, StageRole, StageType, StageAge, StageTime, StageNear, StageThreshold,
		StageDedupe, StageSuperseded, StageSilence, StageLength, StageGroups}
}

// ParseStage finds a stage by its name. KindInvalid names the known ones.
func ParseStage(name string) (Stage, error) {
	if s := Stage(strings.TrimSpace(name)); slices.Contains(Stages(), s) {
		return s, nil
	}
	var names []string
	for _, s := range Stages() {
		names = append(names, string(s))
	}
	return "", skald.Invalid("recall", "without", "%q is no stage; they are: %s", name, strings.Join(names, ", "))
}

type withoutKey struct{}

// Without returns a context in which recalls leave stages out, beside those that ctx leaves out. It is for benchmarks: no configuration
// leads here.
func Without(ctx context.Context, stages ...Stage) context.Context {
	already, _ := ctx.Value(withoutKey{}).([]Stage)
	return context.WithValue(ctx, withoutKey{}, slices.Concat(already, stages))
}

// has reports that a stage is not left out.
func (c *course) has(s Stage) bool { return !slices.Contains(c.without, s) }

// run lets a stage work, unless it is left out.
func (c *course) run(s Stage, stage func()) {
	if c.has(s) {
		stage()
	}
}

package app

import (
	"time"

	"github.com/skald-engine/skald/skill"
)

// Skills are the skills in this app's store.
func (a *App) Skills() *skill.Library {
	now := a.options.Clock
	if now == nil {
		now = time.Now
	}
	return &skill.Library{Store: a.store, Policy: a.Engine.Policy, Now: now}
}

// Package hook is what Skald does when Claude Code runs one of its hooks: recall before a prompt, capture at the end of a turn, a resume
// after a compaction. A hook stands in the way of the agent, so that everything here is bounded in time, fails silently towards the
// agent, and leaves a line in a log that `skald claude status` shows.
package hook

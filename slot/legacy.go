package slot

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/strategy"
)

// legacy is the way without an engine: the newest messages that fit under a summary of the oldest. It needs no store, and keeps its
// summaries as long as it lives.
type legacy struct {
	host Host
	mu   sync.Mutex
	done map[string]summary // by session
}

// summary stands for the first messages of a host's list.
type summary struct {
	messages int
	text     string
}

// recentTurns are the newest turns that stay raw.
const recentTurns = 8

func newLegacy(host Host) *legacy { return &legacy{host: host, done: map[string]summary{}} }

// Info implements Engine: legacy leaves compaction to a host that has one.
func (l *legacy) Info() Info {
	return Info{ID: Legacy, Name: "Sliding window", OwnsCompaction: l.host.Compact == nil}
}

// Assemble implements Engine.
func (l *legacy) Assemble(_ context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
	s := l.of(r.Request, len(r.Tail))
	messages, n := strategy.Window(r.Tail[s.messages:], s.text, r.TokenBudget, recentTurns)
	return skald.AssembleResult{Messages: messages, EstimatedTokens: n, TurnID: r.TurnID}, nil
}

// of is the session's summary; a list that is shorter than what it stands for began anew.
func (l *legacy) of(r skald.Request, length int) summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.done[session(r)]
	if s.messages > length {
		delete(l.done, session(r))
		return summary{}
	}
	return s
}

// Compact implements Compactor.
func (l *legacy) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	if l.host.Compact != nil {
		return Delegate(ctx, r)
	}
	return l.summarise(ctx, r), nil
}

// summarise puts one summary in the place of the oldest messages; the newest half of the budget stays.
func (l *legacy) summarise(ctx context.Context, r skald.CompactRequest) skald.CompactResult {
	budget := r.TokenBudget
	if budget <= 0 {
		budget = l.host.Budget
	}
	before := l.of(r.Request, len(r.Tail))
	through := oldest(r.Tail, min(strategy.LegacyKeep, budget/2))
	result := skald.CompactResult{OK: true, TokensBefore: tokens(r.Tail[before.messages:]) + message.TextTokens(before.text)}
	result.TokensAfter = result.TokensBefore
	if through <= before.messages {
		result.Reason = "nothing to compact: only the newest turns are left, and they stay"
		return result
	}
	sum, err := archive.Builtin{}.Summarise(ctx, archive.Input{Turns: archive.Turns(turns(r.Tail[:through])), Now: l.host.Clock(), MaxTokens: strategy.LegacySummary})
	if err != nil {
		result.OK, result.Reason = false, err.Error()
		return result
	}
	text := archive.Notes([]skald.Archive{{Overview: sum.Overview}}, min(strategy.LegacySummary, budget/5))
	l.mu.Lock()
	l.done[session(r.Request)] = summary{messages: through, text: text}
	l.mu.Unlock()
	result.Compacted, result.Summary = true, text
	result.TokensAfter = tokens(r.Tail[through:]) + message.TextTokens(text)
	return result
}

// oldest is how many of the messages leave: whole exchanges, all but the newest keep tokens and recentTurns turns.
func oldest(list []json.RawMessage, keep int) (through int) {
	sum := 0
	for i := len(list) - 1; i > 0; i-- {
		sum += message.Tokens(list[i])
		m, err := message.Parse(list[i])
		if err == nil && m.SkaldRole() == skald.RoleUser && len(list)-i >= recentTurns && sum >= keep {
			return i
		}
	}
	return 0
}

// turns reads a host's messages as the summariser wants them.
func turns(list []json.RawMessage) (out []skald.Turn) {
	for i, raw := range list {
		if m, err := message.Parse(raw); err == nil {
			out = append(out, skald.Turn{Seq: int64(i + 1), Raw: raw, Role: m.SkaldRole(), Time: m.Timestamp, Tokens: message.Tokens(raw),
				Origin: origins[m.SkaldRole()], Audience: skald.AudienceDirect, Purpose: skald.PurposeTalk})
		}
	}
	return out
}

var origins = map[skald.Role]skald.Origin{
	skald.RoleUser: skald.OriginOwner, skald.RoleAssistant: skald.OriginAgent, skald.RoleTool: skald.OriginTool, skald.RoleSystem: skald.OriginSystem,
}

package backend

import (
	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// kept says what a commit leaves open.
type kept struct {
	archived int  // turns from the oldest on that are archived
	exceeded bool // what stays is larger than was allowed
}

// keep chooses where the open turns are parted: before a user's turn, so that no exchange is torn apart. More is kept rather than
// less than was asked for.
func keep(open []skald.Turn, o api.CommitOptions) kept {
	switch {
	case o.TurnBudget:
		return keepExchanges(open, o)
	case o.KeepRecent > 0:
		return kept{archived: keepMessages(open, o.KeepRecent)}
	}
	return kept{archived: len(open)}
}

// keepMessages keeps the newest n messages and the rest of the exchange that the oldest of them stands in. Where no user speaks
// there are no exchanges; then no message, call or result is torn apart.
func keepMessages(open []skald.Turn, n int) int {
	boundary := func(t skald.Turn) bool { return t.Role == skald.RoleUser }
	if !anyTurn(open, boundary) {
		boundary = func(t skald.Turn) bool { return t.Role != skald.RoleTool && !continues(t) }
	}
	count := 0
	for i := len(open) - 1; i >= 0; i-- {
		if !continues(open[i]) {
			count++
		}
		if count >= n && boundary(open[i]) {
			return i
		}
	}
	return 0
}

func anyTurn(list []skald.Turn, ok func(skald.Turn) bool) bool {
	for _, t := range list {
		if ok(t) {
			return true
		}
	}
	return false
}

// keepExchanges keeps the newest exchanges within a number and a budget. The newest one stays whole even if it is larger.
func keepExchanges(open []skald.Turn, o api.CommitOptions) kept {
	k, tokens := kept{archived: len(open)}, 0
	for n, list := 0, exchanges(open); n < o.KeepTurns && n < len(list); n++ {
		x := list[len(list)-1-n]
		tokens += tokensOf(x)
		if o.RetainTokens > 0 && tokens > o.RetainTokens {
			if n > 0 {
				break
			}
			k.exceeded = true
		}
		k.archived -= len(x)
	}
	return k
}

// exchanges cuts turns before each user's turn.
func exchanges(turns []skald.Turn) [][]skald.Turn {
	var out [][]skald.Turn
	for _, t := range turns {
		if len(out) == 0 || t.Role == skald.RoleUser {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], t)
	}
	return out
}

func tokensOf(turns []skald.Turn) (n int) {
	for _, t := range turns {
		n += t.Tokens
	}
	return n
}

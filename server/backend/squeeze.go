package backend

import (
	"fmt"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// least is the tokens that a shortened message keeps, in the order in which messages are shortened (I6).
var least = []struct {
	role   skald.Role
	tokens int
}{{skald.RoleTool, 120}, {skald.RoleAssistant, 200}, {skald.RoleUser, 200}}

// squeeze makes one exchange fit: long results, then long answers, then the user's words are cut to head and tail; then the steps
// after the first message go, the oldest first; at last the first message is all there is, or nothing where not even that fits.
func squeeze(ref skald.SessionRef, turns []skald.Turn, room int) []skald.Turn {
	for _, step := range least {
		shorten(ref, turns, step.role, step.tokens, room)
	}
	for len(turns) > 1 && tokensOf(turns) > room {
		turns = withoutStep(turns)
	}
	if tokensOf(turns) > room {
		cut(ref, &turns[0], room)
	}
	if tokensOf(turns) > room {
		return nil
	}
	return turns
}

// shorten cuts the messages of a role, the longest first, until all fit.
func shorten(ref skald.SessionRef, turns []skald.Turn, role skald.Role, least, room int) {
	var order []*skald.Turn
	for i := range turns {
		if turns[i].Role == role {
			order = append(order, &turns[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *skald.Turn) int { return b.Tokens - a.Tokens })
	for _, t := range order {
		if over := tokensOf(turns) - room; over > 0 && t.Tokens > least {
			cut(ref, t, max(least, t.Tokens-over))
		}
	}
}

// cut shortens a message; the mark in it says where the whole is.
func cut(ref skald.SessionRef, t *skald.Turn, tokens int) {
	short := message.Shorten(t.Raw, tokens, string(ref.TurnsURI(t.Seq, t.Seq)))
	if n := message.Tokens(short); n < t.Tokens {
		t.Raw, t.Tokens = short, n
	}
}

// withoutStep drops the second message with what answers or continues it.
func withoutStep(turns []skald.Turn) []skald.Turn {
	n := 2
	for n < len(turns) && (turns[n].Role == skald.RoleTool || continues(turns[n])) {
		n++
	}
	return slices.Delete(turns, 1, n)
}

// cutLines keeps as many lines of a text as fit, and says how many are missing and where the whole is. It is empty when not even
// that fits.
func cutLines(text string, room int, uri skald.URI) string {
	if message.TextTokens(text) <= room {
		return text
	}
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	mark := func(kept int) string {
		return fmt.Sprintf("[… %d lines left out; the whole: %s]\n", len(all)-kept, uri)
	}
	room -= message.TextTokens(mark(0)) + 1
	kept, n := 0, 0
	for kept < len(all) {
		line := message.TextTokens(all[kept]+"\n") + 1
		if n+line > room {
			break
		}
		n += line
		kept++
	}
	if kept == 0 {
		return ""
	}
	return strings.Join(all[:kept], "\n") + "\n" + mark(kept)
}

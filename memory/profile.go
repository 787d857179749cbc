package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Profile is ProfileFor a direct session of the owner.
func Profile(tx skald.Tx, scope skald.Scope, maxTokens int) (string, error) {
	return ProfileFor(tx, scope, skald.AudienceDirect, maxTokens)
}

// ProfileFor renders the owner's profile and preferences for the head message: what is valid now, newest first, at most maxTokens,
// the same text for the same memories. A session that is not direct sees what was said in its own audience only (I9). It is empty
// when there is nothing, or nothing that fits.
func ProfileFor(tx skald.Tx, scope skald.Scope, audience skald.Audience, maxTokens int) (string, error) {
	found, err := tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scope}, Types: []skald.MemoryType{profile, preference}, Current: true})
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(m skald.Memory) bool {
		return m.Superseded != "" || m.Origin != skald.OriginOwner || audience != skald.AudienceDirect && m.Audience != audience
	})
	slices.SortStableFunc(found, func(a, b skald.Memory) int {
		if a.Type != b.Type {
			return cmp.Compare(b.Type, a.Type) // profile before preferences
		}
		if c := b.Updated.Compare(a.Updated); c != 0 {
			return c
		}
		return cmp.Compare(a.URI, b.URI)
	})
	return renderProfile(found, maxTokens), nil
}

func renderProfile(found []skald.Memory, maxTokens int) string {
	const title = "## About the user, in their own words"
	room := maxTokens - message.TextTokens(title) - 1
	var lines []string
	for _, m := range found {
		body := parseBody(m.Text)
		for _, l := range slices.Backward(body) {
			s := message.Escape("- " + l.String())
			if l.said == "" {
				s = message.Escape("- " + l.text)
			}
			n := message.TextTokens(s) + 1
			if n > room {
				continue
			}
			room -= n
			lines = append(lines, s)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return title + "\n" + strings.Join(lines, "\n")
}

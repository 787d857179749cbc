package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
)

// name makes the URI of a new memory: the words that tell most of its subject, and a short hash of its content (000-094, 000-095).
func name(scope skald.Scope, c Candidate, salt int) skald.URI {
	root := scope.RootURI().Join("memories")
	if c.Type == skald.MemoryProfile {
		return root.Join("profile.md")
	}
	file := slug(c.Text)
	if c.Type == skald.MemoryEvent {
		file = c.valid().UTC().Format(time.DateOnly) + "-" + file
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%s|%d|%d", scope.Key(), c.Type, normal(c.Text), c.Said.UnixMilli(), salt))
	return root.Join(string(c.Type), file+"-"+hex.EncodeToString(sum[:3])+".md")
}

// slug joins the words of a text that carry it, in their order, without marks; Chinese words stay as they are.
func slug(text string) string {
	weights := sentence.Features(text)
	var parts []string
	size := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		han := sentence.IsHan(w)
		if !han && weights[w] == 0 {
			continue
		}
		if r := []rune(w); len(r) > 12 {
			w = string(r[:12])
		}
		if parts = append(parts, w); len(parts) == 5 {
			break
		}
		if size += len(w); size > 40 {
			break
		}
	}
	if len(parts) == 0 {
		return "note"
	}
	return strings.Join(parts, "-")
}

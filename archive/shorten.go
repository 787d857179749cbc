package archive

import "github.com/skald-engine/skald"

// Shorten gives an archive what is left of its overview after something was forgotten or purged. The abstract may quote what went,
// so it is made anew of the first lines that are left.
func Shorten(a *skald.Archive, kept []skald.Section) {
	a.Overview, a.Abstract, a.Tokens = kept, "", 0
	if len(kept) > 0 {
		l := kept[0].Lines[0]
		a.Abstract = day(l.Time) + ": " + clip(oneLine(l.Text), 160)
		a.Tokens = tokens(Text(*a))
	}
}

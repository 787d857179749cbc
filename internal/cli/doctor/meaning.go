package doctor

import "github.com/skald-engine/skald"

// meaning looks at the vectors of documents: until all are made, some are found by their words alone, or by an older model.
func meaning(st skald.Status) Finding {
	const check = "meaning"
	m := st.Store.Meaning
	switch {
	case m == nil:
		return good(check, "off: recall is by words alone")
	case m.Error != "":
		return warn(check, "see the key embedding of the configuration; it is tried again by itself, and words find the rest meanwhile",
			"%d of %d passages wait for %s: %s", m.Waiting, m.Docs, m.Model, m.Error)
	case m.Waiting > 0:
		return good(check, "%d of %d passages wait for %s; a running daemon embeds them", m.Waiting, m.Docs, m.Model)
	}
	return good(check, "%d passages by %s", m.Docs, m.Model)
}

package doctor

import (
	"time"

	"github.com/skald-engine/skald"
)

// remote looks at the OpenViking server that holds the sessions, where one does, and at what it lacks.
func remote(st skald.Status) []Finding {
	const check, old = "openviking", 10 * time.Minute
	r := st.Store.Remote
	switch {
	case r == nil:
		return nil
	case r.Error != "" && !r.Reachable:
		return []Finding{warn(check, "start the server, or mend store_url and its key; `skald serve` tries again by itself",
			"%s cannot be used, so %d turns and %d changes wait here (the agent answers all the same): %s", r.URL, r.Turns, r.Changes, r.Error)}
	case r.Error != "":
		return []Finding{warn(check, "see the server's log; it is tried again", "%s: %s", r.URL, r.Error)}
	case r.Refused != "":
		return []Finding{warn(check, "the turn is whole in the local store", "%s has refused something for good: %s", r.URL, r.Refused)}
	case r.Turns > 0 && time.Since(r.Oldest) > old:
		return []Finding{warn(check, "see whether the server is slow", "%d turns wait for %s, the oldest since %s", r.Turns, r.URL, r.Oldest.Format(time.RFC3339))}
	}
	return []Finding{good(check, "%s has all but %d turns", r.URL, r.Turns)}
}

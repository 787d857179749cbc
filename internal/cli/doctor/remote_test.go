package doctor

import (
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

func TestRemote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remote *skald.RemoteHealth
		want   []Level
	}{
		"none":       {nil, nil},
		"well":       {&skald.RemoteHealth{Reachable: true}, []Level{OK}},
		"down":       {&skald.RemoteHealth{Error: "connection refused", Turns: 3}, []Level{Warn}},
		"a session":  {&skald.RemoteHealth{Reachable: true, Error: "session x: refused"}, []Level{Warn}},
		"refused":    {&skald.RemoteHealth{Reachable: true, Refused: "too large"}, []Level{Warn}},
		"behind":     {&skald.RemoteHealth{Reachable: true, Turns: 3, Oldest: time.Now().Add(-time.Hour)}, []Level{Warn}},
		"on its way": {&skald.RemoteHealth{Reachable: true, Turns: 3, Oldest: time.Now()}, []Level{OK}},
	} {
		var got []Level
		for _, f := range remote(skald.Status{Store: skald.StoreHealth{Remote: c.remote}}) {
			got = append(got, f.Level)
		}
		if len(got) != len(c.want) || len(got) == 1 && got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

package doctor

import (
	"strings"
	"testing"

	"github.com/skald-engine/skald"
)

func TestMeaning(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]*skald.MeaningHealth{
		"ok off":                              nil,
		"ok 9 passages by x":                  {Model: "x", Docs: 9},
		"ok 4 of 9 passages wait for x":       {Model: "x", Docs: 9, Waiting: 4},
		"warn 4 of 9 passages wait for x: no": {Model: "x", Docs: 9, Waiting: 4, Error: "no"},
	} {
		f := meaning(skald.Status{Store: skald.StoreHealth{Meaning: m}})
		if got := string(f.Level) + " " + f.Message; !strings.HasPrefix(got, want) || f.Check != "meaning" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

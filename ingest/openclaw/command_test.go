package openclaw

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skald-engine/skald/ingest"
)

func TestWithoutCommands(t *testing.T) {
	t.Parallel()
	const (
		talk    = `{"role":"user","content":"Where is the key?"}`
		reply   = `{"role":"assistant","content":[{"type":"text","text":"There."}],"provider":"lab","model":"m"}`
		command = `{"role":"user","content":[{"type":"text","text":"/Skald why"}]}`
		path    = `{"role":"user","content":"/skaldic verse"}`
		host    = `{"role":"assistant","content":"At 14:02 …","provider":"openclaw","model":"gateway-injected"}`
	)
	for _, c := range []struct {
		name   string
		in     []string
		reset  int   // index of the message after a reset; -1 none
		kept   []int // indexes of what is imported
		resets []int // of these
	}{
		{"command and answer", []string{talk, reply, command, host, talk, reply}, -1, []int{0, 1, 4, 5}, nil},
		{"two in a row", []string{command, host, command, host, talk}, -1, []int{4}, nil},
		{"nothing follows", []string{talk, reply, command}, -1, []int{0, 1}, nil},
		{"a model answered", []string{command, reply}, -1, []int{0, 1}, nil},
		{"answer without command", []string{talk, host}, -1, []int{0, 1}, nil},
		{"only a similar word", []string{path, host}, -1, []int{0, 1}, nil},
		{"a reset stays", []string{talk, command, host, talk, reply}, 1, []int{0, 3, 4}, []int{3}},
		{"a reset of what is kept", []string{talk, command, reply, talk}, 1, []int{0, 1, 2, 3}, []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			items := func(yield func(ingest.Item, error) bool) {
				for i, m := range c.in {
					item := ingest.Item{Where: fmt.Sprint(i)}
					item.Entry.Message, item.Entry.Reset = []byte(m), i == c.reset
					if !yield(item, nil) {
						return
					}
				}
			}
			var all, kept, resets []int
			for item, err := range withoutCommands(items) {
				var i int
				if _, scan := fmt.Sscan(item.Where, &i); err != nil || scan != nil {
					t.Fatal(err, scan)
				}
				if all = append(all, i); item.Skipped == "" {
					kept = append(kept, i)
				}
				if item.Entry.Reset {
					resets = append(resets, i)
				}
			}
			if len(all) != len(c.in) || !slices.IsSorted(all) || !slices.Equal(kept, c.kept) || !slices.Equal(resets, c.resets) {
				t.Errorf("of %v %v were kept, with resets at %v; want %v and %v", all, kept, resets, c.kept, c.resets)
			}
		})
	}
}

package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald/resource"
)

func long(n int) string { return strings.Repeat("Words about tides and buoys. ", n/29) + "\n\n" }

func TestSplit(t *testing.T) {
	t.Parallel()
	text := "# Big Title\n\nIntro.\n\n"
	for i := 1; i <= 5; i++ {
		text += fmt.Sprintf("## Section %d\n\n%s", i, long(5000))
	}
	text += "## Huge\n\n" + "### One\n\n" + long(12000) + "### Two\n\n" + long(12000) + "## Same\n\nx\n\n## Same\n\n" + long(9000)
	parts := resource.Split("big", text)
	var names []string
	joined := ""
	for _, p := range parts {
		names = append(names, p.Path)
		joined += p.Text
		if len(p.Text) > 16<<10 {
			t.Errorf("%s has %d bytes", p.Path, len(p.Text))
		}
	}
	same(t, "names", names, []string{"big.md", "Section_2.md", "Section_3.md", "Section_4.md", "Section_5.md", "Huge/Huge.md", "Huge/One.md", "Huge/Two.md", "Same.md", "Same_2.md"})
	if joined != text {
		t.Error("the parts are not the text")
	}
	same(t, "short", resource.Split("a b", "# x"), []resource.Part{{Path: "a_b.md", Text: "# x"}})
}

// FuzzSplit: whatever the text, its parts in order are the text, with names that are unique and no part that is too long.
func FuzzSplit(f *testing.F) {
	f.Add("# a\n"+long(9000)+"# b\n"+long(9000)+"# b\n", uint8(2))
	f.Add(long(40_000)+"## x\n\n---\n", uint8(1))
	f.Add(strings.Repeat("海", 9000), uint8(3))
	f.Add("```\n# a\n", uint8(9))
	f.Fuzz(func(t *testing.T, text string, times uint8) {
		text = strings.ToValidUTF8(strings.Repeat(text, int(times%8)+1), "")
		seen, joined := map[string]bool{}, ""
		for _, p := range resource.Split("name", text) {
			if seen[p.Path] || len(p.Text) > 16<<10 || strings.Contains(p.Path, "..") {
				t.Errorf("part %q of %d bytes", p.Path, len(p.Text))
			}
			seen[p.Path] = true
			joined += p.Text
		}
		if joined != text {
			t.Error("the parts are not the text")
		}
	})
}

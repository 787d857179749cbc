package fetch_test

import (
	"testing"

	"github.com/skald-engine/skald/resource/fetch"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct {
		url, ref, name string
		git            bool
	}{
		"https://example.org/a/guide.v2.pdf":                {"https://example.org/a/guide.v2.pdf", "", "guide.v2", false},
		"https://example.org":                               {"https://example.org", "", "example.org", false},
		"https://example.org/a/#part":                       {"https://example.org/a/", "", "a", false},
		"https://github.com/o/r":                            {"https://github.com/o/r", "", "r", true},
		"https://github.com/o/r.git":                        {"https://github.com/o/r.git", "", "r", true},
		"https://github.com/o/r/tree/main/docs":             {"https://github.com/o/r", "main/docs", "docs", true},
		"https://github.com/o/r/tree/main":                  {"https://github.com/o/r", "main", "r", true},
		"https://github.com/o/r/blob/main/docs/a.md":        {"https://raw.githubusercontent.com/o/r/main/docs/a.md", "", "a", false},
		"https://gitlab.com/g/s/r/-/blob/main/a.md":         {"https://gitlab.com/g/s/r/-/raw/main/a.md", "", "a", false},
		"https://gitlab.com/g/s/r/-/tree/v1/x/y":            {"https://gitlab.com/g/s/r", "v1/x/y", "y", true},
		"https://github.com/o/r/issues/4":                   {"https://github.com/o/r/issues/4", "", "4", false},
		"git@github.com:o/r.git":                            {"https://github.com/o/r.git", "", "r", true},
		"ssh://git@example.org:2222/o/r.git":                {"https://example.org/o/r.git", "", "r", true},
		"git+https://example.org/r":                         {"https://example.org/r", "", "r", true},
		" https://user:secret@example.org/file%20name.txt ": {"https://user:secret@example.org/file%20name.txt", "", "file name", false},
	} {
		a, err := fetch.Parse(raw, "")
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if a.URL.String() != want.url || a.Ref != want.ref || a.Name != want.name || a.Git != want.git {
			t.Errorf("%s: %s ref %q name %q git %t", raw, a.URL, a.Ref, a.Name, a.Git)
		}
	}
	a, _ := fetch.Parse("https://user:secret@example.org/x", "")
	if a.Shown() != "https://example.org/x" {
		t.Errorf("shown with credentials: %s", a.Shown())
	}
}

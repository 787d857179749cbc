package fetch_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
)

func TestCleanName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 200)
	for raw, want := range map[string]string{
		"a.md": "a.md", "v1.2.notes.tar.gz": "v1.2.notes.tar.gz", " trailing . ": "trailing", "": "_", "...": "_", "a/b": "a_b", "a%2e%2eb": "a_2e_2eb",
		"u\u0308ber.md": "über.md", "中文 文件.txt": "中文 文件.txt", ".abstract.md": "_abstract.md", ".overview.md": "_overview.md", "CON.txt": "_CON.txt",
		"a\x00b\n": "a_b_", "a\u200db\u202e": "ab", "C:": "C_", "100%": "100_", "what?.md": "what_.md", "\xff\xfe": "_", ".gitignore": ".gitignore",
	} {
		if got := fetch.CleanName(raw); got != want {
			t.Errorf("%q: %q, wanted %q", raw, got, want)
		}
	}
	a, b := fetch.CleanName(long+"1.md"), fetch.CleanName(long+"2.md")
	if len(a) > 120 || a == b || !strings.HasSuffix(a, ".md") {
		t.Errorf("long names: %q and %q", a, b)
	}
}

func FuzzCleanName(f *testing.F) {
	f.Add("a b%/..\\c:\x00\u0308")
	f.Add(strings.Repeat("長", 90) + ".html")
	f.Fuzz(func(t *testing.T, raw string) {
		name := fetch.CleanName(raw)
		if name == "" || name == "." || name == ".." || len(name) > 130 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\%\x00") {
			t.Errorf("%q became %q", raw, name)
		}
		if again := fetch.CleanName(name); again != name {
			t.Errorf("%q became %q, and then %q", raw, name, again)
		}
		if !norm.NFC.IsNormalString(name) {
			t.Errorf("%q is not NFC", name)
		}
		uri := "viking://resources/" + name
		if got, err := skald.ParseURI(uri, skald.DefaultIdentity, skald.Policy{}); err != nil || string(got) != uri {
			t.Errorf("%q: the URI reads back as %q, %v", name, got, err)
		}
	})
}

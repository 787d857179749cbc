package index

import (
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/analyze"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	deep := skald.URI("viking://resources/a/b/c/d/e/f/g/h/i/j.md")
	for _, uri := range []skald.URI{"viking://resources/a.md", "viking://user/ann/resources/x/.overview.md", deep} {
		docs := Marked([]skald.Doc{{URI: uri, Terms: []string{"word"}, Length: 1}}, []string{"Lang=EN", "语言=中文", "k.1=a b/c"})
		terms := docs[0].Terms
		for folder := uri; folder != skald.Root; folder = folder.Parent() {
			if !slices.Contains(terms, FolderMark(folder)) {
				t.Errorf("%s is not found below %s", uri, folder)
			}
		}
		for _, tag := range []string{"lang=en", "LANG=en", "语言=中文", "k.1=a b/c"} {
			if !slices.Contains(terms, TagMark(tag)) {
				t.Errorf("%s has no mark of %s", uri, tag)
			}
		}
		for _, not := range []string{FolderMark("viking://resources/ab"), TagMark("lang=e"), FolderMark(uri + "x/y")} {
			if slices.Contains(terms, not) && uri != deep {
				t.Errorf("%s has a mark that is not its own", uri)
			}
		}
		if docs[0].Length != 1 {
			t.Error("marks are no words: they don't make a text longer")
		}
		for _, mark := range terms[1:] {
			if words := analyze.Terms(mark); len(words) > 0 && words[0] == mark || !strings.HasPrefix(mark, "\x01") {
				t.Errorf("a word could be the mark %q", mark)
			}
		}
	}
	if Marked(nil, []string{"a=b"}) != nil {
		t.Error("no documents, no marks")
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	folder := skald.File{URI: "viking://resources/x", Dir: true, Abstract: "short", Overview: "long"}
	for uri, want := range map[skald.URI]struct {
		level int
		file  skald.URI
		text  string
	}{
		"viking://resources/x/.abstract.md": {0, folder.URI, "short"}, "viking://resources/x/.overview.md": {1, folder.URI, "long"},
	} {
		if Level(uri) != want.level || FileURI(uri) != want.file || FileText(folder, uri) != want.text {
			t.Errorf("%s: level %d of %s, %q", uri, Level(uri), FileURI(uri), FileText(folder, uri))
		}
	}
	file := skald.File{URI: "viking://resources/x/a.md", Body: []byte("text")}
	if Level(file.URI) != 2 || FileURI(file.URI) != file.URI || FileText(file, file.URI) != "text" {
		t.Error("a file is a leaf")
	}
	for _, body := range []string{"a\x00b", "\xff\xfe"} {
		if file.Body = []byte(body); FileText(file, file.URI) != "" {
			t.Errorf("%q is no text", body)
		}
	}
	if Below("viking://resources/xy", "viking://resources/x") || !Below("viking://resources/x", "viking://resources/x") ||
		!Below("viking://resources/x/y", "viking://resources") || !Below("viking://resources", skald.Root) {
		t.Error("below")
	}
}

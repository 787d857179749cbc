package parse_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/parse"
)

// FuzzFile feeds any bytes to every format: a parser answers with text or with an error, never with a panic that File has to catch.
func FuzzFile(f *testing.F) {
	names := []string{"a.docx", "a.pptx", "a.epub", "a.md", "a.html", "a.txt", "a.csv", "a.json", "a.yaml", "a.go", "a.jpg", "a.svg", "a.wav", "a.mp4", "a.mp3"}
	for i, seed := range [][]byte{docx(f), pptx(f), epub(f), []byte("# a\n```\n# b\n"), []byte("<p>a<table><td>"), {0xFF, 0xFE, 'a', 0}, []byte("a;b\n\"c"),
		[]byte(`{"a":`), []byte("[a]\nb = 1"), []byte("func a() {\n"), jpegOf(f), []byte("<svg>a"), wav(), mp4(), mp3()} {
		f.Add(uint8(i), seed)
	}
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		name := names[int(n)%len(names)]
		d, err := parse.File(t.Context(), parse.Input{Name: name, Body: body})
		if err != nil {
			if k := skald.KindOf(err); k != skald.KindInvalid && k != skald.KindUnsupported {
				t.Errorf("%s: an error of kind %q: %v", name, k, err)
			}
			if strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%s: a panic: %v", name, err)
			}
			return
		}
		if !utf8.ValidString(d.Text) || !utf8.ValidString(d.Title) {
			t.Errorf("%s: text that is not UTF-8", name)
		}
		for _, h := range parse.Headings(d.Text) {
			if h.Start < 0 || h.Start >= len(d.Text) {
				t.Errorf("%s: heading %q at %d of %d", name, h.Text, h.Start, len(d.Text))
			}
		}
	})
}

package parse_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/parse"
)

// read parses a file that must be readable.
func read(t *testing.T, name string, body []byte) parse.Document {
	t.Helper()
	d, err := parse.File(t.Context(), parse.Input{Name: name, Body: body})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

func refused(t *testing.T, name string, body []byte, kind skald.Kind, says string) {
	t.Helper()
	_, err := parse.File(t.Context(), parse.Input{Name: name, Body: body})
	if skald.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, wanted %q and %q", name, err, kind, says)
	}
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%q\nwanted\n%q", what, got, want)
	}
}

// packed is a zip archive of parts: name, content, name, content.
func packed(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pdfOf is a small PDF: a page for each text, whose lines are drawn one below the other.
func pdfOf(title string, pages ...string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 5+2*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	object("<< /Title (%s) >>", title)
	for i, text := range pages {
		stream := "BT /F1 12 Tf 72 720 Td"
		for n, line := range strings.Split(text, "\n") {
			if n > 0 {
				stream += " 0 -14 Td"
			}
			if text != "" {
				stream += " (" + line + ") Tj"
			}
		}
		stream += " ET"
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", 6+2*i)
		object("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, o := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

const core = `<?xml version="1.0"?><cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>The report</dc:title></cp:coreProperties>`

func docx(t testing.TB) []byte {
	return packed(t, "docProps/core.xml", core,
		"word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
		"word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>
<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Tides</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">The sea </w:t></w:r><w:r><w:t>rises &amp; falls.</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Causes</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr><w:r><w:t>the moon</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>the sun</w:t></w:r></w:p>
<w:p><w:r><w:delText>removed words</w:delText></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>day</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>height|m</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2.5</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
</w:body></w:document>`)
}

func pptx(t testing.TB) []byte {
	slide := func(title, body string) string {
		return `<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>` + title +
			`</a:t></a:r></a:p></p:txBody></p:sp><p:sp><p:txBody><a:p><a:r><a:t>` + body + `</a:t></a:r></a:p></p:txBody></p:sp></p:sld>`
	}
	return packed(t, "docProps/core.xml", core,
		"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="rId1" Target="slides/slide1.xml"/><Relationship Id="rId2" Target="slides/slide2.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", slide("Second", "moor the buoy"), "ppt/slides/slide2.xml", slide("First", "about tides"),
		"ppt/slides/_rels/slide2.xml.rels", `<Relationships><Relationship Id="r1" Target="../notesSlides/notesSlide1.xml"/></Relationships>`,
		"ppt/notesSlides/notesSlide1.xml", `<p:notes xmlns:p="p" xmlns:a="a"><p:sp><p:nvSpPr><p:nvPr><p:ph type="body"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>say it slowly</a:t></a:r></a:p></p:txBody></p:sp></p:notes>`)
}

func epub(t testing.TB) []byte {
	return packed(t, "mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>`,
		"OPS/book.opf", `<package xmlns:dc="d"><metadata><dc:title>The Sea</dc:title></metadata><manifest>
<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/><item id="a" href="one%20a.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="x.css" media-type="text/css"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"OPS/one a.xhtml", "<html><body><h1>Ebb</h1><p>It goes.</p></body></html>",
		"OPS/two.xhtml", "<html><body><h1>Flood</h1><p>It comes.</p></body></html>")
}

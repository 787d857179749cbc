package parse_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// rawPDF is a PDF of these objects, the first of which is its catalog.
func rawPDF(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, a := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", a)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", b.Len(), b.String())
}

const (
	fonts    = `/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>`
	drawing  = "BT /F1 12 Tf 1 1 Td (hello) Tj ET"
	catalog  = "<< /Type /Catalog /Pages 2 0 R /Outlines 3 0 R >>"
	onePage  = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>"
	thatPage = "<< /Type /Page /Parent 2 0 R /Contents 5 0 R " + fonts + " >>"
)

// A PDF of a few hundred bytes that goes round in a circle, or that unpacks to very much, keeps no worker and fills no memory.
func TestHostilePDF(t *testing.T) {
	t.Parallel()
	hello := stream(t, drawing)
	for name, c := range map[string]struct {
		body    []byte
		text    bool
		outline int
	}{
		"a bookmark in itself":    {rawPDF(catalog, onePage, "<< /First 3 0 R /Title (x) >>", thatPage, hello), true, 1},
		"a bookmark after itself": {rawPDF(catalog, onePage, "<< /First 6 0 R >>", thatPage, hello, "<< /Title (y) /Next 6 0 R >>"), true, 1000},
		"its own parent": {rawPDF(catalog, "<< /Type /Pages /Kids [4 0 R] /Count 1 /Parent 2 0 R >>", "<< >>",
			"<< /Type /Page /Parent 2 0 R /Contents 5 0 R >>", hello), false, 1},
		"a page that unpacks": {rawPDF(catalog, onePage, "<< >>", thatPage, stream(t, strings.Repeat(drawing+"\n", 200_000))), false, 1},
		"pieces that unpack": {rawPDF(catalog, onePage, "<< >>", "<< /Type /Page /Parent 2 0 R /Contents ["+strings.Repeat("5 0 R ", 4000)+"] "+fonts+" >>",
			stream(t, strings.Repeat(drawing+"\n", 100))), false, 1},
		"a font that unpacks": {rawPDF(catalog, onePage, "<< >>", strings.Replace(thatPage, "/Helvetica", "/Helvetica /ToUnicode 6 0 R", 1), hello,
			stream(t, strings.Repeat("<01> <02>\n", 200_000))), false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := read(t, "a.pdf", c.body)
			if got := strings.Contains(d.Text, "hello"); got != c.text || len(d.Outline) > c.outline {
				t.Errorf("%d bookmarks, text %.80q", len(d.Outline), d.Text)
			}
		})
	}
}

// A table with one long row and many short ones is not filled up to a rectangle.
func TestRaggedTable(t *testing.T) {
	t.Parallel()
	table := "<w:document><w:tbl><w:tr>" + strings.Repeat("<w:tc/>", 5000) + "</w:tr>" +
		strings.Repeat("<w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr>", 5000) + "</w:tbl></w:document>"
	d := read(t, "a.docx", packed(t, "word/document.xml", table))
	if len(d.Text) > 200_000 || strings.Count(d.Text, "| x |") != 5000 {
		t.Errorf("%d bytes of text for %d", len(d.Text), len(table))
	}
}

// Deeply nested lists and quotations are kept as text when each line would be copied hundreds of times.
func TestNestedQuotes(t *testing.T) {
	t.Parallel()
	page := "<html><body>" + strings.Repeat("<blockquote>", 100) + strings.Repeat("<p>word</p>", 5000)
	if d := read(t, "a.html", []byte(page)); len(d.Text) > 2*len(page) || strings.Count(d.Text, "word") != 5000 {
		t.Errorf("%d bytes of text for %d", len(d.Text), len(page))
	}
	few := "<html><body>" + strings.Repeat("<blockquote>", 3) + "<p>word</p>"
	equal(t, "three quotations", read(t, "a.html", []byte(few)).Text, "> > > word")
}

package parse_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/skald-engine/skald"
)

func TestWord(t *testing.T) {
	t.Parallel()
	d := read(t, "r.docx", docx(t))
	equal(t, "title", d.Title, "The report")
	equal(t, "text", d.Text, "# Tides\n\nThe sea rises & falls.\n\n\n## Causes\n\n- the moon\n  - the sun\n\n| day | height\\|m |\n| --- | --- |\n| 1 | 2.5 |\n")
	equal(t, "outline", strings.Join(d.Outline, "\n"), "Tides\n  Causes")
}

func TestSlides(t *testing.T) {
	t.Parallel()
	d := read(t, "r.pptx", pptx(t))
	equal(t, "text", d.Text, "## Slide 1: First\n\nabout tides\n\nNotes: say it slowly\n\n## Slide 2: Second\n\nmoor the buoy\n\n")
}

func TestBook(t *testing.T) {
	t.Parallel()
	d := read(t, "r.epub", epub(t))
	equal(t, "title", d.Title, "The Sea")
	equal(t, "text", d.Text, "# Ebb\n\nIt goes.\n\n# Flood\n\nIt comes.\n\n")
}

func workbook(t testing.TB, password string) []byte {
	f := excelize.NewFile()
	defer f.Close()
	for cell, v := range map[string]any{"A1": "day", "B1": "height", "A2": 1, "B2": 2.5, "A5": "last"} {
		if err := f.SetCellValue("Sheet1", cell, v); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.NewSheet("Empty"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, excelize.Options{Password: password}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSheets(t *testing.T) {
	t.Parallel()
	d := read(t, "r.xlsx", workbook(t, ""))
	equal(t, "text", d.Text, "## Sheet1\n\n| day | height |\n| --- | --- |\n| 1 | 2.5 |\n| last |  |\n\n")
	equal(t, "outline", strings.Join(d.Outline, "; "), "Sheet1: 3 rows; Empty: 0 rows")
}

func TestLockedAndBrokenOffice(t *testing.T) {
	t.Parallel()
	locked := workbook(t, "secret")
	for _, name := range []string{"a.xlsx", "a.docx", "a.pptx"} {
		refused(t, name, locked, skald.KindInvalid, "password")
		refused(t, name, []byte("PK\x03\x04broken"), skald.KindInvalid, "broken")
		refused(t, name, packed(t, "other.xml", "<a/>"), skald.KindInvalid, "broken")
	}
	refused(t, "a.docx", packed(t, "word/document.xml", strings.Repeat("<x>", 300)), skald.KindInvalid, "nested too deeply")
	refused(t, "a.epub", packed(t, "META-INF/container.xml", "<x/>"), skald.KindInvalid, "broken")
	refused(t, "a.doc", locked, skald.KindUnsupported, "save it as docx")
}

package parse_test

import (
	"strings"
	"testing"

	"github.com/skald-engine/skald"
)

func TestPDF(t *testing.T) {
	t.Parallel()
	d := read(t, "r.pdf", pdfOf("Tide tables", "High water at noon.\nLow water at six.", "The second page."))
	equal(t, "title", d.Title, "Tide tables")
	equal(t, "text", d.Text, "# Tide tables\n\n## Page 1\n\nHigh water at noon.\nLow water at six.\n\n## Page 2\n\nThe second page.\n")
}

func TestPDFWithoutText(t *testing.T) {
	t.Parallel()
	d := read(t, "scan.pdf", pdfOf("", "", ""))
	if d.Text != "" || !strings.Contains(strings.Join(d.Notes, " "), "scanned") {
		t.Errorf("text %q, notes %q", d.Text, d.Notes)
	}
}

func TestBrokenPDF(t *testing.T) {
	t.Parallel()
	whole := pdfOf("x", "words")
	refused(t, "a.pdf", []byte("%PDF-1.4 and nothing"), skald.KindInvalid, "broken")
	refused(t, "a.pdf", whole[:len(whole)/2], skald.KindInvalid, "broken")
	refused(t, "a.pdf", nil, skald.KindInvalid, "broken")
	locked := strings.Replace(string(whole), "/Info 4 0 R", "/Info 4 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /O ("+strings.Repeat("o", 32)+
		") /U ("+strings.Repeat("u", 32)+") /P -1 >> /ID [(a) (a)]", 1)
	refused(t, "a.pdf", []byte(locked), skald.KindInvalid, "password")
}

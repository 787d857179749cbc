package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"

	"github.com/skald-engine/skald"
)

// Limits of a PDF: the reader of the format is another's, and a hostile file must not keep a worker.
const (
	maxPages    = 5000
	maxChapters = 1000
	maxParents  = 64      // nodes above a page
	maxContent  = 4 << 20 // bytes of what draws one page, unpacked; the library takes ninety times as much
	maxMapping  = 1 << 20 // bytes of a font's table of characters
	pdfTime     = 10 * time.Minute
)

// portable reads the text of a PDF, a section for each page.
func portable(ctx context.Context, in Input) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	type answer struct {
		d   Document
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- answer{err: broken(in, fmt.Errorf("%v", p))}
			}
		}()
		d, err := readPDF(ctx, in)
		done <- answer{d, err}
	}()
	select {
	case a := <-done:
		return a.d, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return Document{}, ctx.Err()
		}
		return Document{}, skald.Invalid("parse.pdf", "", "%s takes longer than %s to read", in.Name, pdfTime)
	}
}

func readPDF(ctx context.Context, in Input) (Document, error) {
	r, err := pdf.NewReader(bytes.NewReader(in.Body), int64(len(in.Body)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return Document{}, encrypted(in)
	case err != nil:
		return Document{}, broken(in, err)
	}
	left := 2 * maxPages
	list := pagesOf(r.Trailer().Key("Root").Key("Pages"), nil, &left)
	pages := max(r.NumPage(), len(list))
	d := Document{Title: strings.TrimSpace(r.Trailer().Key("Info").Key("Title").Text())}
	d.Outline = chapters(r.Trailer().Key("Root").Key("Outlines"))
	var b strings.Builder
	empty := 0
	for n, page := range list {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		text := pageText(page)
		if text == "" {
			empty++
			continue
		}
		fmt.Fprintf(&b, "## Page %d\n\n%s\n\n", n+1, text)
	}
	switch {
	case len(list) == 0:
		return Document{}, broken(in, errors.New("it has no pages"))
	case empty == len(list):
		d.Notes = append(d.Notes, fmt.Sprintf("no text in its %d pages: it was scanned, and no text recognition is there", pages))
		return d, nil
	case empty > 0:
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %d pages have no text", empty, pages))
	}
	if pages > maxPages {
		d.Notes = append(d.Notes, fmt.Sprintf("the first %d of %d pages are read", maxPages, pages))
	}
	if d.Title != "" {
		d.Text = "# " + d.Title + "\n\n"
	}
	d.Text += strings.TrimSpace(b.String()) + "\n"
	if len(d.Outline) == 0 {
		d.Outline = []string{fmt.Sprintf("%d pages", pages)}
	}
	return d, nil
}

// chapters are the titles of a PDF's topmost bookmarks. The library's own Outline follows a circle of them until the memory is full.
func chapters(outlines pdf.Value) (titles []string) {
	for c := outlines.Key("First"); c.Kind() == pdf.Dict && len(titles) < maxChapters; c = c.Key("Next") {
		titles = append(titles, strings.TrimSpace(strings.ToValidUTF8(c.Key("Title").Text(), "")))
	}
	return titles
}

// safe reports whether the library can be let loose on a page: it follows a circle of parents for ever, and unpacks whatever a page says.
func safe(p pdf.Page) bool {
	above := 0
	for v := p.V; !v.IsNull(); v = v.Key("Parent") {
		if above++; above > maxParents {
			return false
		}
	}
	if !fits(p.V.Key("Contents"), maxContent) {
		return false
	}
	for _, name := range p.Fonts() {
		if !fits(p.Font(name).V.Key("ToUnicode"), maxMapping) {
			return false
		}
	}
	return true
}

// fits reports whether a stream, or all of a list of streams, unpack to at most so many bytes.
func fits(v pdf.Value, most int64) bool {
	streams := []pdf.Value{v}
	if v.Kind() == pdf.Array {
		streams = nil
		for i := range min(v.Len(), maxPages) {
			streams = append(streams, v.Index(i))
		}
		if v.Len() > maxPages {
			return false
		}
	}
	for _, s := range streams {
		if s.Kind() != pdf.Stream {
			continue
		}
		r := s.Reader()
		n, _ := io.Copy(io.Discard, io.LimitReader(r, most+1)) // what cannot be unpacked is as long as it gets
		_ = r.Close()
		if most -= n; most < 0 {
			return false
		}
	}
	return true
}

// pagesOf lists the pages below a node of the tree of pages; left bounds the nodes that are looked at, since a broken tree can be a circle. The
// library's own Page walks the tree from its root for every page.
func pagesOf(node pdf.Value, list []pdf.Page, left *int) []pdf.Page {
	kids := node.Key("Kids")
	for i := 0; i < kids.Len() && len(list) < maxPages && *left > 0; i++ {
		*left--
		switch kid := kids.Index(i); kid.Key("Type").Name() {
		case "Pages":
			list = pagesOf(kid, list, left)
		case "Page":
			list = append(list, pdf.Page{V: kid})
		}
	}
	return list
}

// pageText is the text of one page; a page that cannot be read has none.
func pageText(p pdf.Page) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	if !safe(p) {
		return ""
	}
	if text = joinGlyphs(p.Content().Text); text != "" {
		return text
	}
	text, err := p.GetPlainText(nil)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, ""))
}

// joinGlyphs makes lines and paragraphs of glyphs in the order in which the page draws them.
func joinGlyphs(glyphs []pdf.Text) string {
	var b strings.Builder
	for i, g := range glyphs {
		if i > 0 {
			b.WriteString(between(glyphs[i-1], g))
		}
		b.WriteString(g.S)
	}
	var lines []string
	for _, l := range strings.Split(strings.ToValidUTF8(b.String(), ""), "\n") {
		l = strings.Join(strings.Fields(strings.ReplaceAll(l, "\x00", "")), " ")
		if l != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, l)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// between is the white space between two glyphs.
func between(a, b pdf.Text) string {
	size := math.Max(math.Abs(a.FontSize), 1)
	switch down := math.Abs(a.Y - b.Y); {
	case down > 1.8*size:
		return "\n\n"
	case down > 0.5*size:
		return "\n"
	}
	if gap := b.X - (a.X + a.W); gap > 0.2*size || gap < -2*size {
		return " "
	}
	return ""
}

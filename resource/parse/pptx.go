package parse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const maxSlides = 2000

// slides reads a presentation: a section for each slide, with its notes.
func slides(_ context.Context, in Input) (Document, error) {
	p, err := unpack(in)
	if err != nil {
		return Document{}, err
	}
	const main = "ppt/presentation.xml"
	if p.parts[main] == nil {
		return Document{}, broken(in, errors.New("it has no ppt/presentation.xml"))
	}
	order, err := p.slideOrder(main)
	if err != nil {
		return Document{}, err
	}
	var b strings.Builder
	for i, name := range order[:min(len(order), maxSlides)] {
		if err := p.slide(&b, i+1, name); err != nil {
			return Document{}, err
		}
	}
	d := Document{Title: p.coreTitle(), Text: b.String()}
	if len(order) == 0 {
		d.Text = ""
	}
	d.finish()
	return d, nil
}

// slideOrder lists the parts of the slides as they are shown.
func (p *packed) slideOrder(main string) (names []string, err error) {
	targets, err := p.relations(main)
	if err != nil {
		return nil, err
	}
	err = p.visit(main, visitor{start: func(e element) {
		if e.name != "sldId" {
			return
		}
		for _, a := range e.attrs { // r:id; the element has an id of its own, too
			if name := targets[a.Value]; a.Name.Local == "id" && name != "" {
				names = append(names, name)
			}
		}
	}})
	return names, err
}

func (p *packed) slide(b *strings.Builder, n int, name string) error {
	s := &slideReader{}
	if err := p.visit(name, visitor{s.start, s.end, s.text}); err != nil {
		return err
	}
	title := fmt.Sprintf("Slide %d", n)
	if s.title != "" {
		title += ": " + s.title
	}
	fmt.Fprintf(b, "## %s\n\n%s", title, s.out.String())
	targets, err := p.relations(name)
	if err != nil {
		return err
	}
	for _, t := range slices.Sorted(maps.Values(targets)) {
		if !strings.Contains(t, "notesSlide") {
			continue
		}
		notes := &slideReader{notes: true}
		if err := p.visit(t, visitor{notes.start, notes.end, notes.text}); err != nil {
			return err
		}
		if text := strings.TrimSpace(notes.out.String()); text != "" {
			fmt.Fprintf(b, "Notes: %s\n\n", text)
		}
	}
	return nil
}

type slideReader struct {
	out    strings.Builder
	title  string
	notes  bool // only the placeholder "body" counts
	holder string
	para   strings.Builder
	taking bool
	rows   [][]string
	cell   strings.Builder
	table  bool
}

func (s *slideReader) start(e element) {
	switch e.name {
	case "sp":
		s.holder = ""
	case "ph":
		if s.holder = e.attr("type"); s.holder == "" {
			s.holder = "body"
		}
	case "p":
		s.para.Reset()
	case "t":
		s.taking = true
	case "br":
		s.para.WriteByte(' ')
	case "tbl":
		s.table, s.rows = true, nil
	case "tr":
		s.rows = append(s.rows, nil)
	case "tc":
		s.cell.Reset()
	}
}

func (s *slideReader) text(t string) {
	if s.taking {
		s.para.WriteString(t)
	}
}

func (s *slideReader) end(name string) {
	switch name {
	case "t":
		s.taking = false
	case "p":
		s.paragraph(strings.TrimSpace(s.para.String()))
		s.para.Reset()
	case "tc":
		if len(s.rows) > 0 {
			s.rows[len(s.rows)-1] = append(s.rows[len(s.rows)-1], s.cell.String())
		}
	case "tbl":
		s.out.WriteString(tableOf(s.rows) + "\n")
		s.table = false
	}
}

func (s *slideReader) paragraph(text string) {
	switch {
	case text == "" || s.notes && s.holder != "body" || s.holder == "sldNum" || s.holder == "dt" || s.holder == "ftr":
	case s.table:
		s.cell.WriteString(" " + text)
	case (s.holder == "title" || s.holder == "ctrTitle") && !s.notes:
		s.title = strings.TrimSpace(s.title + " " + text)
	case s.notes:
		s.out.WriteString(text + " ")
	default:
		s.out.WriteString(text + "\n\n")
	}
}

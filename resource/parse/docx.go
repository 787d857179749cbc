package parse

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// word reads a Word document: headings by their style, paragraphs, lists and tables.
func word(_ context.Context, in Input) (Document, error) {
	p, err := unpack(in)
	if err != nil {
		return Document{}, err
	}
	const main = "word/document.xml"
	if p.parts[main] == nil {
		return Document{}, broken(in, errors.New("it has no word/document.xml"))
	}
	w := &wordReader{levels: map[string]int{}}
	if err := p.visit("word/styles.xml", w.styles()); err != nil {
		return Document{}, err
	}
	if err := p.visit(main, visitor{w.start, w.end, w.text}); err != nil {
		return Document{}, err
	}
	d := Document{Title: p.coreTitle(), Text: strings.TrimSpace(w.out.String()) + "\n"}
	d.finish()
	return d, nil
}

// finish derives title and outline from the text's headings, and puts the title above a text that has none.
func (d *Document) finish() {
	headings := Headings(d.Text)
	if len(headings) > 0 && d.Title == "" {
		d.Title = headings[0].Text
	}
	for _, h := range headings {
		d.Outline = append(d.Outline, strings.Repeat("  ", h.Level-1)+h.Text)
	}
	if len(headings) == 0 && d.Title != "" && strings.TrimSpace(d.Text) != "" {
		d.Text = "# " + d.Title + "\n\n" + d.Text
	}
	if strings.TrimSpace(d.Text) == "" {
		d.Text, d.Notes = "", append(d.Notes, "no text in it")
	}
}

type wordReader struct {
	out    strings.Builder
	levels map[string]int // heading level by style id

	para   strings.Builder
	level  int  // of the paragraph's heading, 0 none
	list   bool // the paragraph is a list item
	indent int
	taking bool // inside w:t

	tables []*wordTable // open ones, the innermost last
}

type wordTable struct {
	rows [][]string
	cell strings.Builder
}

// styles learns which styles are headings: ids differ by language, names don't.
func (w *wordReader) styles() visitor {
	id := ""
	return visitor{start: func(e element) {
		switch e.name {
		case "style":
			id = e.attr("styleId")
		case "name":
			name := strings.ToLower(e.attr("val"))
			if name == "title" {
				w.levels[id] = 1
			} else if n, ok := strings.CutPrefix(name, "heading "); ok {
				if level, err := strconv.Atoi(n); err == nil && level >= 1 {
					w.levels[id] = min(level, 6)
				}
			}
		}
	}}
}

func (w *wordReader) start(e element) {
	switch e.name {
	case "p":
		w.para.Reset()
		w.level, w.list, w.indent = 0, false, 0
	case "pStyle":
		style := e.attr("val")
		w.level = w.levels[style]
		if n, ok := strings.CutPrefix(style, "Heading"); ok && w.level == 0 {
			if level, err := strconv.Atoi(n); err == nil && level >= 1 {
				w.level = min(level, 6)
			}
		}
	case "numPr":
		w.list = true
	case "ilvl":
		w.indent, _ = strconv.Atoi(e.attr("val")) // 0 when it is no number
		w.indent = min(max(w.indent, 0), 8)
	case "t":
		w.taking = true
	case "tab":
		w.para.WriteByte(' ')
	case "br", "cr":
		w.para.WriteByte('\n')
	case "tbl":
		w.tables = append(w.tables, &wordTable{})
	case "tr":
		if t := w.table(); t != nil {
			t.rows = append(t.rows, nil)
		}
	case "tc":
		if t := w.table(); t != nil {
			t.cell.Reset()
		}
	}
}

func (w *wordReader) table() *wordTable {
	if len(w.tables) == 0 {
		return nil
	}
	return w.tables[len(w.tables)-1]
}

func (w *wordReader) text(s string) {
	if w.taking {
		w.para.WriteString(s)
	}
}

func (w *wordReader) end(name string) {
	t := w.table()
	switch name {
	case "t":
		w.taking = false
	case "p":
		w.paragraph(t)
	case "tc":
		if t != nil && len(t.rows) > 0 {
			last := len(t.rows) - 1
			t.rows[last] = append(t.rows[last], t.cell.String())
		}
	case "tbl":
		if t == nil {
			return
		}
		w.tables = w.tables[:len(w.tables)-1]
		if outer := w.table(); outer != nil { // a table in a table is its cells' text
			for _, r := range t.rows {
				outer.cell.WriteString(" " + strings.Join(r, " "))
			}
			return
		}
		w.out.WriteString("\n" + tableOf(t.rows) + "\n")
	}
}

// paragraph writes the paragraph that ends.
func (w *wordReader) paragraph(t *wordTable) {
	text := strings.TrimSpace(w.para.String())
	w.para.Reset()
	switch {
	case text == "":
	case t != nil:
		t.cell.WriteString(" " + text)
	case w.level > 0:
		w.out.WriteString("\n" + strings.Repeat("#", w.level) + " " + strings.Join(strings.Fields(text), " ") + "\n\n")
	case w.list:
		w.out.WriteString(strings.Repeat("  ", w.indent) + "- " + text + "\n")
	default:
		w.out.WriteString(text + "\n\n")
	}
}

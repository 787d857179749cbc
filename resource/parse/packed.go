package parse

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Limits of the packed formats (docx, pptx, epub): a part, and all parts that are read.
const (
	maxPart  = 64 << 20
	maxParts = 256 << 20
)

// packed is a file that is a zip archive of parts.
type packed struct {
	in    Input
	parts map[string]*zip.File
	read  int64
}

var compoundFile = []byte{0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1} // what Office writes when there is a password

func unpack(in Input) (*packed, error) {
	if bytes.HasPrefix(in.Body, compoundFile) {
		return nil, encrypted(in)
	}
	r, err := zip.NewReader(bytes.NewReader(in.Body), int64(len(in.Body)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, broken(in, err)
	}
	p := &packed{in: in, parts: map[string]*zip.File{}}
	for _, f := range r.File {
		p.parts[strings.TrimPrefix(f.Name, "/")] = f
	}
	return p, nil
}

// part reads one part; a missing one is empty.
func (p *packed) part(name string) ([]byte, error) {
	f, ok := p.parts[name]
	if !ok {
		return nil, nil
	}
	if f.Flags&1 != 0 {
		return nil, encrypted(p.in)
	}
	r, err := f.Open()
	if err != nil {
		return nil, broken(p.in, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxPart+1))
	if err != nil {
		return nil, broken(p.in, err)
	}
	if p.read += int64(len(b)); len(b) > maxPart || p.read > maxParts {
		return nil, broken(p.in, fmt.Errorf("%s unpacks to too many bytes", name))
	}
	return b, nil
}

// element is one XML element with its parents' work left to the visitor.
type element struct {
	name  string // local
	attrs []xml.Attr
}

func (e element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// visitor is told of a part's elements in order.
type visitor struct {
	start func(e element)
	end   func(name string)
	text  func(s string)
}

const maxNesting = 256

// visit reads a part as XML.
func (p *packed) visit(name string, v visitor) error {
	b, err := p.part(name)
	if err != nil || len(b) == 0 {
		return err
	}
	return p.visitBytes(name, b, v)
}

func (p *packed) visitBytes(name string, b []byte, v visitor) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for depth := 0; ; {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return broken(p.in, fmt.Errorf("%s: %w", name, err))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxNesting {
				return broken(p.in, fmt.Errorf("%s is nested too deeply", name))
			}
			if v.start != nil {
				v.start(element{t.Name.Local, t.Attr})
			}
		case xml.EndElement:
			depth--
			if v.end != nil {
				v.end(t.Name.Local)
			}
		case xml.CharData:
			if v.text != nil {
				v.text(string(t))
			}
		}
	}
}

// relations are the parts that a part points at, by id.
func (p *packed) relations(name string) (map[string]string, error) {
	dir, file := path.Split(name)
	targets := map[string]string{}
	err := p.visit(dir+"_rels/"+file+".rels", visitor{start: func(e element) {
		if e.name != "Relationship" || e.attr("TargetMode") == "External" {
			return
		}
		target := e.attr("Target")
		if strings.HasPrefix(target, "/") {
			target = target[1:]
		} else {
			target = path.Join(dir, target)
		}
		targets[e.attr("Id")] = target
	}})
	return targets, err
}

// coreTitle is the title in the properties of an Office file.
func (p *packed) coreTitle() string {
	var title strings.Builder
	inside := false
	_ = p.visit("docProps/core.xml", visitor{ // without properties there is no title
		start: func(e element) { inside = e.name == "title" },
		end:   func(string) { inside = false },
		text: func(s string) {
			if inside {
				title.WriteString(s)
			}
		},
	})
	return strings.TrimSpace(title.String())
}

// maxFilled is how many empty cells a table's short rows are filled up with.
const maxFilled = 1 << 20

// tableOf is a Markdown table; the first row is its head. Where one row is much longer than many others, the others stay short.
func tableOf(rows [][]string) string {
	width, cells := 0, 0
	for _, r := range rows {
		width, cells = max(width, len(r)), cells+len(r)
	}
	filled := width*len(rows)-cells <= maxFilled
	if width == 0 {
		return ""
	}
	var b strings.Builder
	for i, r := range rows {
		b.WriteString("|")
		wide := width
		if !filled {
			wide = len(r)
		}
		for c := range wide {
			cell := ""
			if c < len(r) {
				cell = strings.ReplaceAll(strings.Join(strings.Fields(r[c]), " "), "|", `\|`)
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", width) + "\n")
		}
	}
	return b.String()
}

package parse

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
)

// book reads an EPUB: its chapters in reading order.
func book(ctx context.Context, in Input) (Document, error) {
	p, err := unpack(in)
	if err != nil {
		return Document{}, err
	}
	opf, err := p.rootFile()
	if err != nil {
		return Document{}, err
	}
	o := &opfReader{items: map[string]string{}}
	if err := p.visit(opf, visitor{o.start, o.end, o.text}); err != nil {
		return Document{}, err
	}
	if p.locked() {
		return Document{}, encrypted(in)
	}
	var b strings.Builder
	for _, id := range o.spine {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		name := o.items[id]
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		chapter, err := p.part(path.Join(path.Dir(opf), name))
		if err != nil {
			return Document{}, err
		}
		root, err := html.Parse(bytes.NewReader(chapter))
		if err != nil {
			return Document{}, broken(in, err)
		}
		text := plainText(root)
		if depth(root) <= maxHTML {
			text = asMarkdown(body(root), nil)
		}
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	d := Document{Title: strings.TrimSpace(o.title.String()), Text: b.String()}
	d.finish()
	return d, nil
}

// rootFile is the part that describes the book.
func (p *packed) rootFile() (name string, err error) {
	err = p.visit("META-INF/container.xml", visitor{start: func(e element) {
		if e.name == "rootfile" && name == "" {
			name = e.attr("full-path")
		}
	}})
	if err == nil && p.parts[name] == nil {
		err = broken(p.in, errors.New("META-INF/container.xml names no part that is there"))
	}
	return name, err
}

// locked reports whether chapters are encrypted; fonts often are, and don't matter.
func (p *packed) locked() (yes bool) {
	err := p.visit("META-INF/encryption.xml", visitor{start: func(e element) {
		if e.name == "CipherReference" && strings.Contains(strings.ToLower(path.Ext(e.attr("URI"))), "htm") {
			yes = true
		}
	}})
	return yes || err != nil
}

type opfReader struct {
	items  map[string]string // part by id
	spine  []string
	title  strings.Builder
	taking bool
	titled bool
}

func (o *opfReader) start(e element) {
	switch e.name {
	case "item":
		if strings.Contains(e.attr("media-type"), "html") {
			o.items[e.attr("id")] = e.attr("href")
		}
	case "itemref":
		if _, ok := o.items[e.attr("idref")]; ok {
			o.spine = append(o.spine, e.attr("idref"))
		}
	case "title":
		o.taking = !o.titled
	}
}

func (o *opfReader) end(name string) {
	if name == "title" {
		o.taking, o.titled = false, true
	}
}

func (o *opfReader) text(s string) {
	if o.taking {
		o.title.WriteString(s)
	}
}

package parse

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // the formats that are known
	_ "image/jpeg"
	_ "image/png"
	"path"
	"strings"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// picture says what is known of an image without looking at it.
func picture(_ context.Context, in Input) (Document, error) {
	if strings.EqualFold(path.Ext(in.Name), ".svg") {
		return drawing(in)
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(in.Body))
	if err != nil {
		return Document{}, broken(in, err)
	}
	d := Document{Media: true, Notes: []string{"no caption: there is no model that looks at pictures"}}
	d.Abstract = fmt.Sprintf("%s image, %d x %d pixels", strings.ToUpper(kind), c.Width, c.Height)
	d.Outline = []string{"format: " + kind, fmt.Sprintf("size: %d x %d pixels, %d bytes", c.Width, c.Height, len(in.Body))}
	d.Outline = append(d.Outline, exif(in.Body)...)
	return d, nil
}

// drawing is an SVG: text, but a picture to its reader. Its words are kept.
func drawing(in Input) (Document, error) {
	p := &packed{in: in}
	var words []string
	if err := p.visitBytes("the drawing", []byte(decode(in.Body)), visitor{text: func(s string) {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			words = append(words, s)
		}
	}}); err != nil {
		return Document{}, err
	}
	d := Document{Media: true, Abstract: "SVG drawing", Outline: []string{"format: svg", fmt.Sprintf("size: %d bytes", len(in.Body))}}
	if len(words) > 0 {
		d.Outline = append(d.Outline, "words: "+strings.Join(words[:min(len(words), 100)], " "))
	}
	return d, nil
}

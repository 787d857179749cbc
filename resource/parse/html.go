package parse

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	readability "codeberg.org/readeck/go-readability/v2"
)

// maxHTML is the deepest nesting of elements that is converted: deeper pages are attacks on recursive readers.
const maxHTML = 400

// page keeps the readable part of a web page as Markdown: the article where one is found, else the whole body.
func page(_ context.Context, in Input) (Document, error) {
	r, err := charset.NewReader(bytes.NewReader(in.Body), in.Media)
	if err != nil {
		r = bytes.NewReader(in.Body)
	}
	root, err := html.Parse(r)
	if err != nil {
		return Document{}, broken(in, err)
	}
	if depth(root) > maxHTML {
		return Document{Title: titleOf(root), Text: plainText(root), Notes: []string{"the page is nested too deeply to keep its structure"}}, nil
	}
	base, err := url.Parse(in.URL)
	if err != nil {
		base = nil
	}
	title, whole := titleOf(root), plainText(root)
	article, err := readability.FromDocument(root, base)
	d := Document{Title: title}
	if err == nil && article.Node != nil {
		if d.Title == "" {
			d.Title = article.Title()
		}
		d.Text = asMarkdown(article.Node, base)
	}
	if len(d.Text)*4 < len(whole) { // no article, or most of the page is not in it: an index, a short page, a reference
		if root, err = html.Parse(bytes.NewReader(utf8Body(in))); err != nil {
			return Document{}, broken(in, err)
		}
		if text := asMarkdown(body(root), base); text != "" {
			d.Text = text
		}
	}
	if d.Text == "" {
		d.Notes = append(d.Notes, "the page has no text; what a script puts there is not seen")
	}
	if d.Title != "" && len(Headings(d.Text)) == 0 {
		d.Text = "# " + d.Title + "\n\n" + d.Text
	}
	for _, h := range Headings(d.Text) {
		d.Outline = append(d.Outline, strings.Repeat("  ", h.Level-1)+h.Text)
	}
	return d, nil
}

func utf8Body(in Input) []byte {
	r, err := charset.NewReader(bytes.NewReader(in.Body), in.Media)
	if err != nil {
		return in.Body
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		return in.Body
	}
	return b.Bytes()
}

// maxIndented is how many bytes the nesting of lists and quotations may add to a page: the converter copies each line once a level.
const maxIndented = 2 << 20

// indented estimates these bytes, for a node inside so many levels.
func indented(n *html.Node, level int) (bytes int) {
	if n.Type == html.TextNode {
		return level * len(n.Data)
	}
	bytes = level
	switch n.Data {
	case "ul", "ol", "blockquote":
		level++
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		bytes += indented(c, level)
	}
	return bytes
}

func asMarkdown(n *html.Node, base *url.URL) string {
	drop(n)
	if indented(n, 0) > maxIndented {
		return plainText(n)
	}
	var options []converter.ConvertOptionFunc
	if base != nil && base.Host != "" {
		options = append(options, converter.WithDomain(base.Scheme+"://"+base.Host))
	}
	b, err := htmltomarkdown.ConvertNode(n, options...)
	if err != nil {
		return plainText(n)
	}
	return strings.TrimSpace(string(b))
}

// skipped elements say nothing that a reader sees.
var skipped = map[string]bool{"script": true, "style": true, "noscript": true, "template": true, "nav": true, "iframe": true, "svg": true, "form": true}

// drop takes elements away that hold no text, and pictures that are written out in the page.
func drop(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.ElementNode && (skipped[c.Data] || c.Data == "img" && inlined(c)) || c.Type == html.CommentNode {
			n.RemoveChild(c)
		} else {
			drop(c)
		}
		c = next
	}
}

func inlined(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "src" && strings.HasPrefix(a.Val, "data:") {
			return true
		}
	}
	return false
}

// walk visits the elements of a page without recursion.
func walk(root *html.Node, visit func(n *html.Node, depth int) (deeper bool)) {
	depth := 0
	for n := root; n != nil; {
		if visit(n, depth) && n.FirstChild != nil {
			n, depth = n.FirstChild, depth+1
			continue
		}
		for n != root && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

func depth(root *html.Node) (deepest int) {
	walk(root, func(_ *html.Node, d int) bool { deepest = max(deepest, d); return true })
	return deepest
}

func titleOf(root *html.Node) (title string) {
	walk(root, func(n *html.Node, _ int) bool {
		if title == "" && n.Type == html.ElementNode && n.Data == "title" && n.FirstChild != nil {
			title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
		return true
	})
	return title
}

func plainText(root *html.Node) string {
	var b strings.Builder
	walk(root, func(n *html.Node, _ int) bool {
		if n.Type == html.TextNode {
			b.WriteString(strings.Join(strings.Fields(n.Data), " ") + " ")
		}
		return n.Type != html.ElementNode || !skipped[n.Data] && n.Data != "head"
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

func body(root *html.Node) (found *html.Node) {
	found = root
	walk(root, func(n *html.Node, _ int) bool {
		if n.Type == html.ElementNode && n.Data == "body" {
			found = n
		}
		return true
	})
	return found
}

package resource

import (
	"mime"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/resource/parse"
	"github.com/skald-engine/skald/tree"
)

// Sizes of what is kept.
const (
	maxFile     = 128 << 20 // bytes of one file that is read
	maxOriginal = 16 << 20  // bytes of a document that is kept beside its text
	maxOverview = 8 << 10   // bytes
	maxOutline  = 120       // lines of an overview
)

// render makes the nodes of one source file at its place. The node that stands for the file, with its hash, comes last: a file is done when it is
// there.
func render(scope skald.Scope, root, at skald.URI, f fetch.File, hash string, body []byte, d parse.Document, r Request) []skald.File {
	m := mark{Root: root, From: f.Path, At: at, Way: r.way(), Kind: d.Parser}
	base := skald.File{Scope: scope, Source: "", Tags: r.Tags}
	name := path.Base(f.Path)
	plain := func(uri skald.URI, b []byte, media string) skald.File {
		n := base
		n.URI, n.Body, n.Media, n.Extra = uri, b, media, asJSON(m)
		return n
	}
	if !folderOf(name) { // it stays the file that it is
		m.Hash = hash
		n := plain(at, []byte(d.Text), mediaOf(name))
		if !r.NoOverview {
			n.Abstract = tree.Line(d.Abstract)
			n.Overview = outline(d)
		}
		return []skald.File{n}
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	var nodes []skald.File
	switch {
	case d.Media && !r.DropMedia:
		nodes = append(nodes, plain(at.Join(name), body, mediaOf(name)))
	case d.Media:
		text := "# " + name + "\n\n" + d.Abstract + "\n\n" + outline(d)
		nodes = append(nodes, plain(at.Join(fetch.CleanName(stem)+".md"), []byte(text), "text/markdown"))
	default:
		parts := Split(stem, d.Text)
		if strings.TrimSpace(d.Text) == "" && !d.Own {
			parts = nil // the overview says why
		}
		for _, p := range parts {
			uri := at.Join(strings.Split(p.Path, "/")...)
			if !strings.Contains(p.Path, "/") && p.Path == title(stem)+".md" {
				uri = at.Join(fetch.CleanName(stem) + ".md")
			}
			nodes = append(nodes, plain(uri, []byte(p.Text), "text/markdown"))
		}
		if !d.Own && d.Parser != "html" && len(body) <= maxOriginal && !utf8.Valid(body) {
			nodes = append(nodes, plain(at.Join(name), body, mediaOf(name)))
		}
	}
	folder := base
	m.Hash = hash
	folder.URI, folder.Dir, folder.Extra = at, true, asJSON(m)
	if !r.NoOverview {
		folder.Abstract, folder.Overview = abstract(name, d), overview(name, d)
	}
	return append(nodes, folder)
}

func mediaOf(name string) string {
	media, _, _ := mime.ParseMediaType(mime.TypeByExtension(strings.ToLower(path.Ext(name))))
	switch {
	case media != "":
		return media
	case parse.Converted(name):
		return "application/octet-stream"
	}
	return "text/plain"
}

// abstract is one line: the title, and the first sentence that is not the title.
func abstract(name string, d parse.Document) string {
	if d.Abstract != "" {
		return tree.Line(d.Abstract)
	}
	said := firstSentence(d.Text)
	switch {
	case d.Title != "" && said != "" && said != d.Title:
		return tree.Line(d.Title + ": " + said)
	case d.Title != "":
		return tree.Line(d.Title)
	case said != "":
		return tree.Line(said)
	}
	return name
}

// firstSentence is the first line of prose of a text, to its first full stop.
func firstSentence(text string) string {
	fenced := false
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
		}
		if fenced || t == "" || strings.ContainsRune("#|=-*>`<!~[", rune(t[0])) {
			continue
		}
		t = parse.Inline(t)
		for i, r := range t {
			if (r == '.' || r == '!' || r == '?') && strings.HasPrefix(t[i+1:], " ") && i > 20 || strings.ContainsRune("。！？", r) {
				return t[:i+utf8.RuneLen(r)]
			}
		}
		return t
	}
	return ""
}

// overview says what a document is and what is in it.
func overview(name string, d parse.Document) string {
	var b strings.Builder
	head := name
	if d.Title != "" {
		head = d.Title
	}
	b.WriteString("# " + head + "\n\n" + abstract(name, d) + "\n")
	if o := outline(d); o != "" {
		b.WriteString("\n## Contents\n\n" + o)
	}
	for _, n := range d.Notes {
		b.WriteString("\nNote: " + n + ".\n")
	}
	return b.String()
}

// outline is a document's outline as a list.
func outline(d parse.Document) string {
	var b strings.Builder
	for i, line := range d.Outline {
		if i == maxOutline || b.Len() > maxOverview {
			b.WriteString("- …\n")
			break
		}
		t := strings.TrimLeft(line, " ")
		b.WriteString(strings.Repeat(" ", len(line)-len(t)) + "- " + tree.Line(t) + "\n")
	}
	return b.String()
}

// Package parse turns files of many formats into Markdown that can be read, split and indexed, with a title, an outline and what is known of
// the file. No model is asked: what only a model could tell (a caption, a transcript) is left out, and said.
package parse

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/skald-engine/skald"
)

// Input is one file.
type Input struct {
	Name  string // with extension
	Media string // as a server said; "" unknown
	URL   string // where a page came from, for its links; "" otherwise
	Body  []byte
}

// Document is what was found in a file.
type Document struct {
	Parser   string // the format's name
	Title    string
	Text     string   // Markdown or plain text; "" when there is none
	Own      bool     // Text is the file's own content: it keeps its name
	Media    bool     // a picture, sound or film: the file itself is the content
	Abstract string   // one line; "" where the text's first sentence serves
	Outline  []string // what is in it: headings, declarations, sheets, facts
	Notes    []string // what could not be had
}

// Parser reads one format. It returns KindInvalid for a broken or encrypted file.
type Parser interface {
	Parse(ctx context.Context, in Input) (Document, error)
}

// parserFunc is a function as a Parser.
type parserFunc func(ctx context.Context, in Input) (Document, error)

func (f parserFunc) Parse(ctx context.Context, in Input) (Document, error) { return f(ctx, in) }

// format is a row of the table of formats.
type format struct {
	name       string
	parser     Parser
	extensions string
}

var formats = []format{
	{"markdown", parserFunc(markdown), ".md .markdown .mdown .mkd"},
	{"text", parserFunc(text), ".txt .text .log"},
	{"html", parserFunc(page), ".html .htm .xhtml"},
	{"pdf", parserFunc(portable), ".pdf"},
	{"word", parserFunc(word), ".docx .docm"},
	{"powerpoint", parserFunc(slides), ".pptx .pptm"},
	{"excel", parserFunc(sheets), ".xlsx .xlsm"},
	{"epub", parserFunc(book), ".epub"},
	{"table", parserFunc(table), ".csv .tsv"},
	{"data", parserFunc(data), ".json .jsonl .ndjson .yaml .yml .toml .ini .cfg .conf .properties .xml .env"},
	{"code", parserFunc(code), ".py .pyi .js .mjs .cjs .jsx .ts .tsx .go .rs .java .kt .kts .scala .c .h .cc .cpp .cxx .hpp .cs .swift .rb .php " +
		".lua .pl .r .jl .dart .ex .exs .erl .hs .ml .clj .sh .bash .zsh .fish .ps1 .sql .proto .tf .hcl .vue .svelte .css .scss .less .rst .tex " +
		".adoc .org .graphql .gradle .cmake .mk .dockerfile .mdx .ipynb .zig .nim .v .sv .asm .s"},
	{"image", parserFunc(picture), ".png .jpg .jpeg .gif .webp .bmp .tif .tiff .svg"},
	{"audio", parserFunc(sound), ".mp3 .wav .flac .ogg .oga .opus .m4a .aac"},
	{"video", parserFunc(film), ".mp4 .m4v .mov .webm .mkv .avi"},
}

// plain names are text without an extension that says so.
var plainNames = map[string]bool{
	"makefile": true, "dockerfile": true, "license": true, "licence": true, "readme": true, "changelog": true, "authors": true, "notice": true,
	"jenkinsfile": true, "vagrantfile": true, "gemfile": true, "rakefile": true, "procfile": true, ".gitignore": true, ".dockerignore": true,
	".editorconfig": true, ".gitattributes": true, "codeowners": true,
}

// oldOffice are formats that nothing here reads.
var oldOffice = map[string]string{".doc": "docx", ".xls": "xlsx", ".ppt": "pptx", ".odt": "docx", ".ods": "xlsx", ".odp": "pptx", ".rtf": "docx"}

// of finds the format of a file by its extension; "" when none is known.
func of(name string) *format {
	ext := strings.ToLower(path.Ext(name))
	for i, f := range formats {
		for _, e := range strings.Fields(f.extensions) {
			if ext == e {
				return &formats[i]
			}
		}
	}
	return nil
}

// Media reports whether a name is a picture's, a sound's or a film's, and the folder of such.
func Media(name string) (folder string, ok bool) {
	f := of(name)
	if f == nil {
		return "", false
	}
	switch f.name {
	case "image":
		return "images", true
	case "audio", "video":
		return f.name, true
	}
	return "", false
}

// Converted reports whether a file of that name becomes a folder with its text as Markdown, rather than staying the file it is.
func Converted(name string) bool {
	f := of(name)
	return f != nil && f.name != "data" && f.name != "code" && f.name != "table"
}

// File parses a file. KindUnsupported for a format that is not known, KindInvalid for a broken or encrypted file.
func File(ctx context.Context, in Input) (d Document, err error) {
	defer func() {
		if p := recover(); p != nil { // a library of a format on a hostile file
			err = broken(in, fmt.Errorf("%v", p))
		}
	}()
	f := of(in.Name)
	switch {
	case f == nil:
		return unknown(ctx, in)
	case textual[f.name] && isBinary(in.Body):
		return Document{}, skald.E("parse", skald.KindUnsupported, "%s is called %s but holds no text", in.Name, path.Ext(in.Name))
	}
	d, err = f.parser.Parse(ctx, in)
	d.Parser = f.name
	return d, err
}

var textual = map[string]bool{"markdown": true, "text": true, "html": true, "table": true, "data": true, "code": true}

// unknown takes what reads as text for text.
func unknown(ctx context.Context, in Input) (Document, error) {
	ext := strings.ToLower(path.Ext(in.Name))
	if newer := oldOffice[ext]; newer != "" {
		return Document{}, skald.E("parse", skald.KindUnsupported, "%s: the format %s is not read; save it as %s", in.Name, ext, newer)
	}
	if strings.HasPrefix(in.Media, "text/html") {
		d, err := page(ctx, in)
		d.Parser = "html"
		return d, err
	}
	if !plainNames[strings.ToLower(in.Name)] && (isBinary(in.Body) || len(in.Body) == 0) {
		return Document{}, skald.E("parse", skald.KindUnsupported, "%s: a format that is not known (%s)", in.Name, http.DetectContentType(in.Body))
	}
	d, err := code(ctx, in)
	d.Parser = "text"
	return d, err
}

func broken(in Input, err error) error {
	return skald.Invalid("parse", "", "%s is broken, or not what its name says: %w", in.Name, err)
}

func encrypted(in Input) error {
	return skald.Invalid("parse", "", "%s is protected by a password", in.Name)
}

// isBinary reports whether a file is no text in any encoding that is known here.
func isBinary(b []byte) bool {
	head := b[:min(len(b), 8192)]
	if encodingOf(head) == utf16Little || encodingOf(head) == utf16Big {
		return false
	}
	media := http.DetectContentType(head)
	return bytes.IndexByte(head, 0) >= 0 || !strings.HasPrefix(media, "text/") && media != "application/octet-stream" && control(head) ||
		media == "application/octet-stream" && control(head) || strings.HasPrefix(media, "image/") || media == "application/pdf"
}

// control reports whether a text has many characters that no text has.
func control(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 27 {
			n++
		}
	}
	return n*100 > len(b)
}

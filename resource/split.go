package resource

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/resource/parse"
)

// maxPart is the most bytes of one file of a document that is split. It is what a model reads at once without effort, some 4,000 tokens.
const maxPart = 16 << 10

// Part is one file of a document.
type Part struct {
	Path string // below the document's folder
	Text string
}

// Split cuts a Markdown text by its headings into files of at most 16 KB, with folders where a section has sections. Short neighbours share
// a file. Joined in order the parts are the text.
func Split(name, text string) []Part {
	s := splitter{taken: map[string]bool{}}
	if len(text) <= maxPart {
		s.add("", name, text)
		return s.parts
	}
	s.section("", name, text, 0)
	return s.parts
}

type splitter struct {
	parts []Part
	taken map[string]bool
}

func (s *splitter) add(dir, name, text string) {
	p := dir + title(name) + ".md"
	for n := 2; s.taken[p]; n++ {
		p = fmt.Sprintf("%s%s_%d.md", dir, title(name), n)
	}
	s.taken[p] = true
	s.parts = append(s.parts, Part{p, text})
}

// title is a heading as the name of a file.
func title(heading string) string {
	return strings.ReplaceAll(fetch.CleanName(strings.ReplaceAll(heading, ".", "_")), " ", "_")
}

const maxLevels = 6

// section writes a text that is too long for one file: what stands before its sections, then the sections.
func (s *splitter) section(dir, name, text string, level int) {
	pieces := sections(text)
	if len(pieces) < 2 || level >= maxLevels {
		s.chunks(dir, name, text)
		return
	}
	for i := 0; i < len(pieces); {
		p := pieces[i]
		if len(p.text) > maxPart {
			inner := dir + title(p.name(name)) + "/"
			for n := 2; s.taken[inner]; n++ {
				inner = fmt.Sprintf("%s%s_%d/", dir, title(p.name(name)), n)
			}
			s.taken[inner] = true
			s.section(inner, p.name(name), p.text, level+1)
			i++
			continue
		}
		end, size := i+1, len(p.text)
		for end < len(pieces) && size+len(pieces[end].text) <= maxPart/2 {
			size += len(pieces[end].text)
			end++
		}
		var b strings.Builder
		for _, q := range pieces[i:end] {
			b.WriteString(q.text)
		}
		label := p.name(name)
		if end > i+1 && p.heading != "" {
			label = fmt.Sprintf("%s_%dmore", label, end-i-1)
		}
		s.add(dir, label, b.String())
		i = end
	}
}

type piece struct {
	heading string // "" for what stands before the first section
	text    string
}

func (p piece) name(of string) string {
	if p.heading == "" {
		return of
	}
	return p.heading
}

// sections cuts a text at its highest headings; where there is only one of those, and the text begins with it, at the next level.
func sections(text string) []piece {
	all := parse.Headings(text)
	for len(all) > 0 {
		highest := 7
		for _, h := range all {
			highest = min(highest, h.Level)
		}
		var at []parse.Heading
		for _, h := range all {
			if h.Level == highest {
				at = append(at, h)
			}
		}
		if len(at) > 1 || strings.TrimSpace(text[:at[0].Start]) != "" && len(at) == 1 && at[0].Start > len(text)/8 {
			return cut(text, at)
		}
		rest := all[:0:0]
		for _, h := range all {
			if h.Level != highest {
				rest = append(rest, h)
			}
		}
		all = rest
	}
	return nil
}

func cut(text string, at []parse.Heading) (pieces []piece) {
	if at[0].Start > 0 {
		pieces = append(pieces, piece{"", text[:at[0].Start]})
	}
	for i, h := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1].Start
		}
		pieces = append(pieces, piece{h.Text, text[h.Start:end]})
	}
	return pieces
}

// chunks cuts a text without headings: at blank lines, else at line ends, else anywhere between two characters.
func (s *splitter) chunks(dir, name, text string) {
	if len(text) <= maxPart {
		s.add(dir, name, text)
		return
	}
	for n := 1; text != ""; n++ {
		end := chunkEnd(text)
		s.add(dir, fmt.Sprintf("%s_%03d", name, n), text[:end])
		text = text[end:]
	}
}

func chunkEnd(text string) int {
	if len(text) <= maxPart {
		return len(text)
	}
	window := text[:maxPart]
	for _, sep := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(window, sep); i > maxPart/2 {
			return i + len(sep)
		}
	}
	end := maxPart
	for end > 1 && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

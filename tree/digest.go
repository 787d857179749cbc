package tree

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skald-engine/skald"
)

// A folder's texts are made of what stands in it, without a model: names, and the first line of each child. Texts that somebody wrote stay.

const (
	maxLine    = 200 // characters of an abstract
	maxEntries = 100 // children that an overview names
)

// Line is the L0 of a text: its first heading or line, at most 200 characters.
func Line(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "---" || strings.HasPrefix(line, "<!--") || strings.HasPrefix(line, "#!") {
			continue
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "#/*-=_> \t"))
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return clip(line)
		}
	}
	return ""
}

func clip(line string) string {
	if utf8.RuneCountInString(line) <= maxLine {
		return line
	}
	return string([]rune(line)[:maxLine-1]) + "…"
}

// Digest makes the L0 and L1 of a folder from its children, in order of URI and without content.
func Digest(folder skald.URI, children []skald.File) (abstract, overview string) {
	var folders, files []skald.File
	for _, c := range children {
		switch {
		case strings.HasPrefix(c.URI.Name(), "."):
		case c.Dir:
			folders = append(folders, c)
		default:
			files = append(files, c)
		}
	}
	head := count(len(files), "file") + ", " + count(len(folders), "folder")
	abstract = folder.Name() + ": " + head
	if about := introduction(files); about != "" {
		abstract = about + " (" + head + ")"
	} else if names := names(append(slices.Clone(folders), files...), 5); names != "" {
		abstract += ": " + names
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n", folder.Name(), head)
	section(&b, "Folders", folders)
	section(&b, "Files", files)
	return clip(abstract), b.String()
}

// introduction is the first line of the file that says what a folder is.
func introduction(files []skald.File) string {
	for _, stem := range []string{"readme", "index", "skill"} {
		for _, f := range files {
			if name := strings.ToLower(f.URI.Name()); strings.TrimSuffix(name, path.Ext(name)) == stem && f.Abstract != "" {
				return f.Abstract
			}
		}
	}
	return ""
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func names(list []skald.File, most int) string {
	var out []string
	for _, f := range list[:min(len(list), most)] {
		out = append(out, f.URI.Name())
	}
	if len(list) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

func section(b *strings.Builder, title string, list []skald.File) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, f := range list[:min(len(list), maxEntries)] {
		name := f.URI.Name()
		if f.Dir {
			name += "/"
		}
		b.WriteString("- " + name)
		if f.Abstract != "" {
			b.WriteString(": " + f.Abstract)
		}
		b.WriteByte('\n')
	}
	if more := len(list) - maxEntries; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}

// made says which of a folder's texts were made by Digest. It stands in Extra, beside what a writer may keep there.
const made = "made"

// own reports the texts of a folder that Digest may replace: those that it made, and those that are missing.
func own(f skald.File) (abstract, overview bool) {
	var extra struct {
		Made []string `json:"made"`
	}
	_ = json.Unmarshal(f.Extra, &extra) // nothing there: nothing was made
	return f.Abstract == "" || slices.Contains(extra.Made, "abstract"), f.Overview == "" || slices.Contains(extra.Made, "overview")
}

// mark notes which texts Digest made.
func mark(extra []byte, abstract, overview bool) []byte {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(extra, &all)
	list := []string{}
	if abstract {
		list = append(list, "abstract")
	}
	if overview {
		list = append(list, "overview")
	}
	delete(all, made)
	if len(list) > 0 {
		all[made], _ = json.Marshal(list) // strings always encode
	}
	if len(all) == 0 {
		return nil
	}
	b, _ := json.Marshal(all) // raw JSON that was decoded above
	return b
}

// Authored gives a folder texts that its children don't change. An empty text is left to Digest again.
func Authored(f skald.File, abstract, overview *string) skald.File {
	a, o := own(f)
	if abstract != nil {
		f.Abstract, a = *abstract, *abstract == ""
	}
	if overview != nil {
		f.Overview, o = *overview, *overview == ""
	}
	f.Extra = mark(f.Extra, a && f.Abstract != "", o && f.Overview != "")
	return f
}

// Fresh is a folder with the texts that its children give it now, and whether they differ from the stored ones.
func Fresh(tx skald.Tx, f skald.File) (skald.File, bool, error) {
	a, o := own(f)
	if !a && !o {
		return f, false, nil
	}
	children, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{f.Scope}, Under: f.URI, Direct: true})
	if err != nil {
		return f, false, err
	}
	abstract, overview := Digest(f.URI, children)
	before := f
	if a {
		f.Abstract = abstract
	}
	if o {
		f.Overview = overview
	}
	f.Extra = mark(f.Extra, a, o)
	return f, f.Abstract != before.Abstract || f.Overview != before.Overview, nil
}

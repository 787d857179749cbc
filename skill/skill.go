package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
)

// File names and limits of a skill.
const (
	Main           = "SKILL.md" // the file that makes a folder a skill
	MaxName        = 64         // characters
	MaxDescription = 1024       // characters; Agent Skills' own limit, checked by Validate
	MaxMain        = 1 << 20    // bytes of SKILL.md
)

// Skill is what a SKILL.md says.
type Skill struct {
	Name         string
	Description  string
	Tags         []string
	AllowedTools []string
	Version      string // "" when it names none
	Body         string // what stands below the front matter
	Text         string // the whole SKILL.md as it was given, byte for byte
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// CheckName tells whether a name can be a skill's: it becomes a folder, and a part of URIs.
func CheckName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case name == "":
		return skald.Invalid("skill", "name", "a skill needs a name")
	case n > MaxName:
		return skald.Invalid("skill", "name", "a skill's name has at most %d characters, this one has %d", MaxName, n)
	case !namePattern.MatchString(name):
		return skald.Invalid("skill", "name", "the skill name %q may hold ASCII letters, digits, _ and - only", name)
	}
	return nil
}

// Parse reads a SKILL.md. KindInvalid when it has no usable front matter, name or description.
func Parse(text string) (Skill, error) {
	s, err := read(text)
	if err != nil {
		return s, skald.Invalid("skill", "data", "%w", err)
	}
	if err := CheckName(s.Name); err != nil {
		return s, err
	}
	if s.Description == "" {
		return s, skald.Invalid("skill", "description", "the skill %q has no description: the agent finds a skill by it", s.Name)
	}
	return s, nil
}

// read takes a SKILL.md apart and judges no more than its form.
func read(text string) (s Skill, err error) {
	s.Text = text
	switch {
	case len(text) > MaxMain:
		return s, fmt.Errorf("%s is larger than %d bytes: put long texts into files beside it", Main, MaxMain)
	case !utf8.ValidString(text):
		return s, fmt.Errorf("%s is not UTF-8 text", Main)
	}
	lines, body, err := split(text)
	if err != nil {
		return s, err
	}
	keys, err := (&front{lines: lines}).parse()
	if err != nil {
		return s, err
	}
	s.Body = body
	return s, s.take(keys)
}

// take reads the keys that skills have, in every spelling that is in use.
func (s *Skill) take(keys map[string]value) error {
	for name, to := range map[string]*string{"name": &s.Name, "description": &s.Description, "version": &s.Version} {
		v := keys[name]
		if v.kind != ofText {
			return fmt.Errorf("%s has to be a text", name)
		}
		*to = strings.TrimSpace(v.text)
	}
	s.Tags = listed(keys, ",", "tags")
	s.AllowedTools = listed(keys, ", \t\n", "allowed-tools", "allowed_tools", "allowedTools")
	return nil
}

// listed is a list that may be written as one text.
func listed(keys map[string]value, separators string, names ...string) []string {
	out := []string{}
	for _, name := range names {
		v, ok := keys[name]
		if !ok {
			continue
		}
		items := v.list
		if v.kind == ofText {
			items = outside(v.text, separators)
		}
		for _, item := range items {
			if item != "" && !slices.Contains(out, item) {
				out = append(out, item)
			}
		}
	}
	return out
}

// fields is a skill given as an object. A tool of an MCP server is accepted too: its inputSchema stands for the content.
type fields struct {
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Content      string            `json:"content"`
	Version      string            `json:"version"`
	Tags         texts             `json:"tags"`
	AllowedTools texts             `json:"allowed_tools"`
	Dashed       texts             `json:"allowed-tools"`
	Schema       json.RawMessage   `json:"inputSchema"`
	Files        map[string]string `json:"files"` // path below the skill -> text
}

// texts is a list of texts that may be written as one, divided by commas or spaces.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = slices.DeleteFunc(outside(one, ", \t\n"), func(s string) bool { return s == "" })
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// ReadData reads a skill that came as JSON: a string with the text of a SKILL.md, or an object. KindPermission for a string that is a path.
func ReadData(data json.RawMessage) (Bundle, error) {
	text, files, err := textOf(data)
	if err != nil {
		return Bundle{}, err
	}
	s, err := Parse(text)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Skill: s}
	for path, content := range files {
		if err := b.add(path, []byte(content)); err != nil {
			return b, err
		}
	}
	return b, b.check()
}

// textOf is the SKILL.md of a skill that came as JSON, and the texts of its files.
func textOf(data json.RawMessage) (string, map[string]string, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		if path := strings.TrimSpace(text); path != "" && !strings.ContainsAny(path, "\n\r") && looksLikePath(path) {
			return "", nil, &skald.Error{Op: "skill", Field: "data", Kind: skald.KindPermission, Err: errPath}
		}
		return text, nil, nil
	}
	var f fields
	if err := json.Unmarshal(data, &f); err != nil {
		return "", nil, skald.Invalid("skill", "data", "a skill is the text of a SKILL.md or an object with name, description and content")
	}
	return f.text(), f.Files, nil
}

var errPath = errors.New("a file of the server's machine is never read: send the text of the SKILL.md, or upload the file " +
	"(POST /api/v1/resources/temp_upload) and give its temp_file_id")

func looksLikePath(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "file:") ||
		strings.HasSuffix(s, ".md") || strings.HasSuffix(s, ".zip") || len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// text writes the object as a SKILL.md.
func (f fields) text() string {
	if strings.HasPrefix(strings.TrimSpace(f.Content), "---") { // the content is a whole SKILL.md already
		return f.Content
	}
	var b strings.Builder
	line := func(key, v string) {
		if v != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, quote(v))
		}
	}
	list := func(key string, items []string) {
		if len(items) == 0 {
			return
		}
		b.WriteString(key + ":\n")
		for _, item := range items {
			fmt.Fprintf(&b, "- %s\n", quote(item))
		}
	}
	b.WriteString("---\n")
	line("name", f.Name)
	line("description", orName(f))
	line("version", f.Version)
	list("tags", f.Tags)
	list("allowed-tools", append(f.AllowedTools, f.Dashed...))
	b.WriteString("---\n\n" + f.Content)
	if f.Content == "" && len(f.Schema) > 0 {
		fmt.Fprintf(&b, "# %s\n\n%s\n\nCall the tool `%s` with arguments of this JSON schema:\n\n```json\n%s\n```\n", f.Name, f.Description, f.Name, f.Schema)
	}
	return b.String()
}

// orName lets an object do without a description, as OpenViking does.
func orName(f fields) string {
	if f.Description == "" {
		return f.Name
	}
	return f.Description
}

// quote writes a text so that YAML and this package read it as it was; short plain words stay as they are.
func quote(s string) string {
	if namePattern.MatchString(s) && plain(s) == s {
		return s
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(b)
}

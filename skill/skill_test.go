package skill

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
)

const plainSkill = `---
name: fish-counter
description: Counts fish in the northern harbour
tags: [fish, count]
allowed-tools: Read, Bash(git add:*)
version: 2
---

# Fish

Use the net.
`

// TestFrontMatter reads every way in which a SKILL.md is written (SKL-02).
func TestFrontMatter(t *testing.T) {
	t.Parallel()
	long := "Counts fish in the northern harbour, and tells which boats brought them."
	for name, c := range map[string]struct {
		text string
		want Skill
	}{
		"plain":      {plainSkill, Skill{Description: "Counts fish in the northern harbour", Tags: []string{"fish", "count"}, AllowedTools: []string{"Read", "Bash(git add:*)"}, Version: "2"}},
		"blank line": {"\n \n" + plainSkill, Skill{Description: "Counts fish in the northern harbour", Tags: []string{"fish", "count"}, AllowedTools: []string{"Read", "Bash(git add:*)"}, Version: "2"}},
		"BOM":        {"\uFEFF" + plainSkill, Skill{Description: "Counts fish in the northern harbour", Tags: []string{"fish", "count"}, AllowedTools: []string{"Read", "Bash(git add:*)"}, Version: "2"}},
		"CRLF":       {strings.ReplaceAll(plainSkill, "\n", "\r\n"), Skill{Description: "Counts fish in the northern harbour", Tags: []string{"fish", "count"}, AllowedTools: []string{"Read", "Bash(git add:*)"}, Version: "2"}},
		"folded":     {"---\nname: fish-counter\ndescription: >-\n  Counts fish in the northern harbour,\n  and tells which boats\n  brought them.\n---\nx", Skill{Description: long}},
		"literal":    {"---\nname: fish-counter\ndescription: |\n  Counts fish.\n\n  Twice.\n---\n", Skill{Description: "Counts fish.\n\nTwice."}},
		"plain over lines": {"---\nname: fish-counter\ndescription: Counts fish in the northern harbour,\n  and tells which boats # a comment\n  brought them.\n---\n",
			Skill{Description: long}},
		"below the key": {"---\nname: fish-counter\ndescription:\n  Counts fish in the northern harbour,\n  and tells which boats brought them.\n---\n", Skill{Description: long}},
		"double quotes": {"---\nname: \"fish-counter\"\ndescription: \"Counts: \\\"fish\\\" # no comment\"\n---\n", Skill{Description: `Counts: "fish" # no comment`}},
		"single quotes": {"---\nname: 'fish-counter'\ndescription: 'It''s fish'  # why\n---\n", Skill{Description: "It's fish"}},
		"colon":         {"---\nname: fish-counter\ndescription: Use this: count fish\n---\n", Skill{Description: "Use this: count fish"}},
		"dashes": {"---\nname: fish-counter\ndescription: d\ntags:\n- fish\n- 'two words'\nallowed_tools:\n  - Read\n  - Bash(ls:*)\n---\n",
			Skill{Description: "d", Tags: []string{"fish", "two words"}, AllowedTools: []string{"Read", "Bash(ls:*)"}}},
		"flow over lines": {"---\nname: fish-counter\ndescription: d\ntags: [fish,\n  \"a, b\", # why\n  count]\n---\n", Skill{Description: "d", Tags: []string{"fish", "a, b", "count"}}},
		"maps and others": {"---\n# written by hand\nname: fish-counter\nmetadata:\n  author: ann\n  nested:\n    deep: [1]\nhooks: {a: 1}\nempty:\ndescription: d\nlicense: MIT\n---\n", Skill{Description: "d"}},
		"tools with spaces": {"---\nname: fish-counter\ndescription: d\nallowed-tools: Read Grep Bash(git commit:*)\ntags: a, b\n---\n",
			Skill{Description: "d", Tags: []string{"a", "b"}, AllowedTools: []string{"Read", "Grep", "Bash(git commit:*)"}}},
		"dots at the end": {"---\nname: fish-counter\ndescription: d\n...\nbody", Skill{Description: "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != c.text {
				t.Error("the text was changed")
			}
			if c.want.Tags == nil {
				c.want.Tags = []string{}
			}
			if c.want.AllowedTools == nil {
				c.want.AllowedTools = []string{}
			}
			c.want.Name, c.want.Text, c.want.Body = "fish-counter", got.Text, got.Body
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBodyKeepsDashes reads a body that holds --- (SKL-02).
func TestBodyKeepsDashes(t *testing.T) {
	t.Parallel()
	s, err := Parse("---\nname: a\ndescription: d\n---\none\n---\ntwo\n")
	if err != nil || s.Body != "one\n---\ntwo\n" {
		t.Errorf("body %q, %v", s.Body, err)
	}
}

// TestRefused lists what is no skill, and that the refusal names the field.
func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no front matter\n":                                 "begins with front matter",
		"":                                                  "begins with front matter",
		"---\nname: a\ndescription: d\n":                    "not closed",
		"---\nname: a\n---\nbody":                           "no description",
		"---\ndescription: d\n---\nbody":                    "needs a name",
		"---\nname: ../b\ndescription: d\n---\n":            "ASCII letters",
		"---\nname: a b\ndescription: d\n---\n":             "ASCII letters",
		"---\nname: name-ü\ndescription: d\n---\n":          "ASCII letters",
		"---\nname: a.b\ndescription: d\n---\n":             "ASCII letters",
		"---\nname: " + strings.Repeat("x", 65) + "\n---\n": "at most 64",
		"---\nname: [a]\ndescription: d\n---\n":             "has to be a text",
		"---\nname: [a\n---\n":                              "] is missing",
		"---\nname: \"a\n---\n":                             "closing",
		"---\nname: &x a\n---\n":                            "anchors",
		"---\nname: a\nname: b\n---\n":                      "twice",
		"---\n  name: a\n---\n":                             "belongs to no key",
		"---\njust words\n---\n":                            "key: value",
		"---\nname: a\ndescription: \xff\n---\n":            "UTF-8",
		"---\nname: a\ndescription: d\n---\n" + strings.Repeat("x", MaxMain): "larger than",
	} {
		if _, err := Parse(text); skald.KindOf(err) != skald.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// TestReadData reads a text, an object, a tool of an MCP server, and refuses paths.
func TestReadData(t *testing.T) {
	t.Parallel()
	b, err := ReadData(encoded(t, map[string]any{"name": "a", "description": "it's: \"quoted\"\nand long", "content": "# Body\n", "tags": []string{"x y"},
		"allowed_tools": "Read, Bash(ls:*)", "files": map[string]string{"ref/one.md": "1"}}))
	if err != nil {
		t.Fatal(err)
	}
	want := Skill{Name: "a", Description: "it's: \"quoted\"\nand long", Tags: []string{"x y"}, AllowedTools: []string{"Read", "Bash(ls:*)"}, Body: "\n# Body\n", Text: b.Text}
	if diff := cmp.Diff(want, b.Skill); diff != "" {
		t.Error(diff)
	}
	if len(b.Files) != 1 || b.Files[0].Path != "ref/one.md" {
		t.Errorf("files %v", b.Files)
	}
	tool, err := ReadData(encoded(t, map[string]any{"name": "q", "description": "asks", "inputSchema": map[string]any{"type": "object"}}))
	if err != nil || !strings.Contains(tool.Body, `{"type":"object"}`) {
		t.Errorf("%v: %q", err, tool.Body)
	}
	for _, path := range []string{"/etc/passwd", "~/x", "./SKILL.md", `C:\x`, "skills/a.zip"} {
		if _, err := ReadData(encoded(t, path)); skald.KindOf(err) != skald.KindPermission {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, other := range []any{[]string{"x"}, 3, "text", map[string]any{"name": 3}} {
		if _, err := ReadData(encoded(t, other)); skald.KindOf(err) != skald.KindInvalid {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestValidate tells errors from warnings, and makes errors of warnings when it is strict.
func TestValidate(t *testing.T) {
	t.Parallel()
	rules := func(list []Issue) (out []string) {
		for _, i := range list {
			out = append(out, i.Rule)
		}
		return out
	}
	for _, c := range []struct {
		data             any
		strict           bool
		dir              string
		errors, warnings []string
	}{
		{data: plainSkill},
		{data: plainSkill, dir: "fish-counter", strict: true},
		{data: plainSkill, dir: "other", warnings: []string{"name_matches_directory"}},
		{data: plainSkill, dir: "other", strict: true, errors: []string{"name_matches_directory"}},
		{data: "no front matter", errors: []string{"yaml_format"}},
		{data: "---\nname:\n---\nx", errors: []string{"name_required", "description_required"}},
		{data: "---\nname: a b\ndescription: d\n---\n", errors: []string{"name_allowed_characters"}, warnings: []string{"body_required"}},
		{data: "---\nname: a\ndescription: " + strings.Repeat("d", 1025) + "\n---\n" + strings.Repeat("line\n", 501), warnings: []string{"description_max_length", "body_max_lines"}},
		{data: 7, errors: []string{"data_type"}},
		{data: map[string]any{"name": "a", "description": "d", "content": "c", "files": map[string]string{"../x": "1"}}, errors: []string{"file_path"}},
	} {
		r := Validate(encoded(t, c.data), c.strict, c.dir, "")
		if diff := cmp.Diff(c.errors, rules(r.Errors)); diff != "" {
			t.Errorf("%.40v errors: %s", c.data, diff)
		}
		if diff := cmp.Diff(c.warnings, rules(r.Warnings)); diff != "" {
			t.Errorf("%.40v warnings: %s", c.data, diff)
		}
		if r.Valid != (len(c.errors) == 0) {
			t.Errorf("%.40v: valid %v", c.data, r.Valid)
		}
	}
}

// FuzzParse looks for a SKILL.md that crashes the reader, or whose name or body is not what stands in it.
func FuzzParse(f *testing.F) {
	f.Add(plainSkill)
	f.Add("---\nname: a\ndescription: >\n x\n---\n")
	f.Add("---\nname: \"a\\\ndescription: [a, 'b\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if CheckName(s.Name) != nil || !strings.HasSuffix(text, s.Body) || s.Text != text {
			t.Errorf("%q: name %q, body %q", text, s.Name, s.Body)
		}
	})
}

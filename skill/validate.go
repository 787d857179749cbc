package skill

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxBodyLines is the length from which a SKILL.md is better split: all of it is read when the skill is used.
const maxBodyLines = 500

// Report is what Validate found. A skill with errors would be refused; in strict mode one with warnings, too.
type Report struct {
	Valid        bool     `json:"valid"`
	Strict       bool     `json:"strict"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Tags         []string `json:"tags"`
	AllowedTools []string `json:"allowed_tools"`
	BodyLines    int      `json:"body_lines"`
	SourcePath   string   `json:"source_path"`
	DirName      string   `json:"skill_dir_name"`
	Errors       []Issue  `json:"errors"`
	Warnings     []Issue  `json:"warnings"`
}

// Issue is one finding.
type Issue struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Validate checks a skill, given as for ReadData, without storing it. dir is the name of the folder that it lies in, "" when unknown.
func Validate(data json.RawMessage, strict bool, dir, source string) Report {
	r := Report{Strict: strict, Tags: []string{}, AllowedTools: []string{}, Errors: []Issue{}, Warnings: []Issue{}, DirName: dir, SourcePath: source}
	text, files, err := textOf(data)
	if err != nil {
		r.fail("data", "data_type", err.Error())
		return r.judged()
	}
	s, err := read(text)
	r.Name, r.Description, r.BodyLines = s.Name, s.Description, lineCount(s.Body)
	if err != nil {
		r.fail("data", "yaml_format", err.Error())
		return r.judged()
	}
	r.Tags, r.AllowedTools = s.Tags, s.AllowedTools
	r.name(s.Name, dir)
	r.rest(s)
	b := Bundle{Skill: s}
	for path, content := range files {
		if err := b.add(path, []byte(content)); err != nil {
			r.fail("files", "file_path", err.Error())
		}
	}
	if err := b.check(); err != nil {
		r.fail("files", "files", err.Error())
	}
	return r.judged()
}

func (r *Report) name(name, dir string) {
	switch {
	case name == "":
		r.fail("name", "name_required", "name is required")
		return
	case utf8.RuneCountInString(name) > MaxName:
		r.fail("name", "name_max_length", "name must not exceed 64 characters")
	case !namePattern.MatchString(name):
		r.fail("name", "name_allowed_characters", "name may only contain letters, numbers, underscores, and hyphens")
	}
	if dir != "" && dir != name {
		r.warn("name", "name_matches_directory", "name '"+name+"' does not match directory name '"+dir+"'")
	}
}

func (r *Report) rest(s Skill) {
	switch n := utf8.RuneCountInString(s.Description); {
	case n == 0:
		r.fail("description", "description_required", "description is required")
	case n > MaxDescription:
		r.warn("description", "description_max_length", "description should not exceed 1024 characters")
	}
	switch {
	case strings.TrimSpace(s.Body) == "":
		r.warn("body", "body_required", "the body is empty: the agent learns nothing beyond the description")
	case r.BodyLines > maxBodyLines:
		r.warn("body", "body_max_lines", "the body has more than 500 lines: move parts into files beside it")
	}
}

func (r *Report) fail(field, rule, message string) {
	r.Errors = append(r.Errors, Issue{Rule: rule, Message: message, Field: field})
}

func (r *Report) warn(field, rule, message string) {
	r.Warnings = append(r.Warnings, Issue{Rule: rule, Message: message, Field: field})
}

// judged makes errors of the warnings in strict mode, and gives the verdict.
func (r *Report) judged() Report {
	if r.Strict {
		r.Errors, r.Warnings = append(r.Errors, r.Warnings...), []Issue{}
	}
	r.Valid = len(r.Errors) == 0
	return *r
}

func lineCount(body string) int {
	if body = strings.Trim(body, "\r\n"); body == "" {
		return 0
	}
	return strings.Count(body, "\n") + 1
}

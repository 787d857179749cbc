package api

import (
	"encoding/json"
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/skill"
)

// skillView is a skill as every route shows it.
func skillView(i skill.Info) map[string]any {
	return map[string]any{
		"type": "skill", "name": i.Name, "uri": i.URI, "root_uri": i.URI, "skill_md_uri": i.MainURI(),
		"description": i.Description, "tags": i.Tags, "allowed_tools": i.AllowedTools,
	}
}

// withRoots adds which roots were looked at.
func (h *Handler) withRoots(id skald.Identity, target string, skills []map[string]any) (any, error) {
	roots, err := h.deps.Skills.Roots(id, target)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"skills": skills, "total": len(skills)}
	if target == "" {
		out["root_uris"] = roots
	} else {
		out["root_uri"] = roots[0]
	}
	return out, nil
}

func (h *Handler) listSkills(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	target, limit := q.text("target_uri"), q.int("node_limit", 1000, 0, maxNodes)
	if err := q.err(); err != nil {
		return nil, err
	}
	list, err := h.deps.Skills.List(r.Context(), id, target, limit)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(list))
	for i, s := range list {
		out[i] = skillView(s)
	}
	return h.withRoots(id, target, out)
}

type findSkillsBody struct {
	Query     string   `json:"query"`
	Limit     *int     `json:"limit"`
	Threshold *float64 `json:"score_threshold"`
	Level     []int    `json:"level"`
	Target    string   `json:"target_uri"`
}

func (h *Handler) findSkills(r *http.Request, id skald.Identity) (any, error) {
	raw, err := wire.ReadBody(r)
	if err != nil {
		return nil, err
	}
	var b findSkillsBody
	if err := decodeAt(raw, &b, inBody()); err != nil {
		return nil, err
	}
	if err := onlyMembers(raw, "query", "limit", "score_threshold", "level", "target_uri", "telemetry"); err != nil {
		return nil, err
	}
	q := skill.Query{Text: b.Query, Target: b.Target, Limit: 10, Levels: b.Level}
	if b.Limit != nil {
		q.Limit = *b.Limit
	}
	if q.Limit < 0 || q.Limit > maxHits {
		return nil, invalid(inBody("limit"), "value_error", "Input should be between 0 and %d", maxHits)
	}
	if b.Threshold != nil {
		q.Threshold = *b.Threshold
	}
	found, err := h.deps.Skills.Find(r.Context(), id, q)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(found))
	for i, f := range found {
		out[i] = skillView(f.Info)
		out[i]["uri"], out[i]["level"], out[i]["score"] = f.Hit, f.Level, f.Score
		out[i]["match_reason"], out[i]["abstract"] = "", f.Text
	}
	return h.withRoots(id, b.Target, out)
}

func (h *Handler) validateSkill(r *http.Request, _ skald.Identity) (any, error) {
	raw, err := wire.ReadBody(r)
	if err != nil {
		return nil, err
	}
	var b struct {
		Data   json.RawMessage `json:"data"`
		Strict bool            `json:"strict"`
		Source string          `json:"source_path"`
		Dir    string          `json:"skill_dir_name"`
	}
	if err := decodeAt(raw, &b, inBody()); err != nil {
		return nil, err
	}
	if len(b.Data) == 0 {
		return nil, invalid(inBody("data"), "missing", "Field required")
	}
	if err := onlyMembers(raw, "data", "strict", "source_path", "skill_dir_name", "target_uri"); err != nil {
		return nil, err
	}
	return skill.Validate(b.Data, b.Strict, b.Dir, b.Source), nil
}

// shown is which parts of a skill are asked for.
type shown struct {
	abstract, overview, content, files, integrity, source bool
}

func (q *query) shown() shown {
	s := shown{files: true, integrity: q.bool("include_integrity"), source: q.bool("include_source")}
	if q.text("include_files") != "" {
		s.files = q.bool("include_files")
	}
	switch level := q.text("level"); level {
	case "":
		s.abstract, s.overview, s.content = true, true, true
	case "0", "1", "2":
		s.abstract, s.overview, s.content = level == "0", level == "1", level == "2"
	default:
		q.add([]string{"query", "level"}, "value_error", "Skill show level must be 0, 1, or 2")
	}
	if q.text("include_content") != "" {
		s.content = q.bool("include_content")
	}
	return s
}

func (h *Handler) showSkill(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	target, s := q.text("target_uri"), q.shown()
	if err := q.err(); err != nil {
		return nil, err
	}
	d, err := h.deps.Skills.Get(r.Context(), id, target, r.PathValue("skill"))
	if err != nil {
		return nil, noSkill(err)
	}
	out := skillView(d.Info)
	if s.abstract {
		out["abstract"] = d.Abstract
	}
	if s.overview {
		out["overview"] = d.Overview
	}
	if s.content {
		out["content"], out["content_sha256"] = string(d.Content), digestOf(d.Content)
	}
	if s.files {
		out["files"] = skillFiles(d, s.integrity)
	}
	if s.integrity {
		out["revision"] = revision(d)
	}
	if s.source && d.Source != nil {
		out["source"] = d.Source
	}
	return out, nil
}

func skillFiles(d skill.Details, integrity bool) []map[string]any {
	out := make([]map[string]any, len(d.Files))
	for i, f := range d.Files {
		path := strings.TrimPrefix(string(f.URI), string(d.URI)+"/")
		one := map[string]any{"name": f.URI.Name(), "uri": f.URI, "path": path, "is_dir": f.Dir, "kind": kindOf(f, path)}
		if integrity && !f.Dir {
			one["size"], one["sha256"] = f.Size, f.Hash
		}
		out[i] = one
	}
	return out
}

func kindOf(f skald.File, path string) string {
	switch {
	case f.Dir:
		return "directory"
	case path == skill.Main:
		return "definition"
	}
	return "auxiliary"
}

// revision changes whenever a file of the skill does.
func revision(d skill.Details) string {
	var b strings.Builder
	for _, f := range d.Files {
		if !f.Dir {
			b.WriteString(string(f.URI) + " " + f.Hash + "\n")
		}
	}
	return digestOf([]byte(b.String()))
}

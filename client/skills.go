package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/skill"
)

// Skills are the skills of a daemon. Its methods are those of skill.Library.
type Skills struct{ c *Client }

// Skills asks for skills.
func (c *Client) Skills() Skills { return Skills{c} }

// skillView is a skill as the daemon shows it.
type skillView struct {
	Name         string          `json:"name"`
	Root         skald.URI       `json:"root_uri"`
	URI          skald.URI       `json:"uri"`
	Description  string          `json:"description"`
	Tags         []string        `json:"tags"`
	AllowedTools []string        `json:"allowed_tools"`
	Level        int             `json:"level"`
	Score        float64         `json:"score"`
	Abstract     string          `json:"abstract"`
	Overview     string          `json:"overview"`
	Content      string          `json:"content"`
	Source       json.RawMessage `json:"source"`
	Files        []struct {
		URI  skald.URI `json:"uri"`
		Dir  bool      `json:"is_dir"`
		Size int64     `json:"size"`
		Hash string    `json:"sha256"`
	} `json:"files"`
}

func (v skillView) info() skill.Info {
	return skill.Info{Name: v.Name, URI: v.Root, Description: v.Description, Tags: v.Tags, AllowedTools: v.AllowedTools, Source: v.Source}
}

// Add uploads skills and stores them. Their descriptions are what was sent.
func (s Skills) Add(ctx context.Context, id skald.Identity, target string, list []skill.Bundle, source json.RawMessage) ([]skill.Info, error) {
	archive, err := skill.Pack(list)
	if err != nil {
		return nil, err
	}
	upload, err := s.c.Upload(ctx, id, "skills.zip", bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var answer struct {
		skillView
		Installed []skillView `json:"installed"`
	}
	body := map[string]any{"temp_file_id": upload, "wait": true}
	if target != "" {
		body["target_uri"] = target
	}
	if source != nil {
		body["source_metadata"] = source
	}
	if err := s.c.API(ctx, http.MethodPost, "/skills", id, nil, body, &answer); err != nil {
		return nil, err
	}
	views := answer.Installed
	if len(views) == 0 {
		views = []skillView{answer.skillView}
	}
	out := make([]skill.Info, len(views))
	for i, v := range views {
		out[i] = v.info()
		for _, b := range list {
			if b.Name == v.Name {
				out[i].Description, out[i].Tags, out[i].AllowedTools, out[i].Version = b.Description, b.Tags, b.AllowedTools, b.Version
			}
		}
	}
	return out, nil
}

// List lists skills.
func (s Skills) List(ctx context.Context, id skald.Identity, target string, limit int) ([]skill.Info, error) {
	q := params{}.text("target_uri", target)
	q["node_limit"] = []string{strconv.Itoa(limit)}
	var answer struct{ Skills []skillView }
	err := s.c.API(ctx, http.MethodGet, "/skills", id, url.Values(q), nil, &answer)
	out := make([]skill.Info, len(answer.Skills))
	for i, v := range answer.Skills {
		out[i] = v.info()
	}
	return out, err
}

// Get reads a skill; its files come with size and hash.
func (s Skills) Get(ctx context.Context, id skald.Identity, target, name string) (skill.Details, error) {
	q := params{}.text("target_uri", target).text("include_integrity", "true").text("include_source", "true")
	var v skillView
	if err := s.c.API(ctx, http.MethodGet, skillPath(name), id, url.Values(q), nil, &v); err != nil {
		return skill.Details{}, err
	}
	d := skill.Details{Info: v.info(), Abstract: v.Abstract, Overview: v.Overview, Content: []byte(v.Content)}
	for _, f := range v.Files {
		d.Files = append(d.Files, skald.File{URI: f.URI, Dir: f.Dir, Size: f.Size, Hash: f.Hash})
	}
	return d, nil
}

// Remove deletes a skill and says how many nodes went.
func (s Skills) Remove(ctx context.Context, id skald.Identity, target, name string) (skald.URI, int, error) {
	var answer struct {
		URI   skald.URI `json:"uri"`
		Count int       `json:"estimated_deleted_count"`
	}
	err := s.c.API(ctx, http.MethodDelete, skillPath(name), id, url.Values(params{}.text("target_uri", target)), nil, &answer)
	return answer.URI, answer.Count, err
}

// Find searches skills.
func (s Skills) Find(ctx context.Context, id skald.Identity, q skill.Query) ([]skill.Found, error) {
	body := map[string]any{"query": q.Text, "limit": q.Limit, "target_uri": q.Target, "level": q.Levels}
	if q.Threshold > 0 {
		body["score_threshold"] = q.Threshold
	}
	var answer struct{ Skills []skillView }
	err := s.c.API(ctx, http.MethodPost, "/skills/find", id, nil, body, &answer)
	out := make([]skill.Found, len(answer.Skills))
	for i, v := range answer.Skills {
		out[i] = skill.Found{Info: v.info(), Hit: v.URI, Level: v.Level, Score: v.Score, Text: v.Abstract}
	}
	return out, err
}

func skillPath(name string) string { return "/skills/" + url.PathEscape(name) }

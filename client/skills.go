package client

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
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
	upload, err := s.c.upload(ctx, id, "skills.zip", archive)
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
	if err := s.c.api(ctx, http.MethodPost, "/skills", id, body, &answer); err != nil {
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
	err := s.c.api(ctx, http.MethodGet, "/skills?"+url.Values(q).Encode(), id, nil, &answer)
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
	if err := s.c.api(ctx, http.MethodGet, skillPath(name)+"?"+url.Values(q).Encode(), id, nil, &v); err != nil {
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
	err := s.c.api(ctx, http.MethodDelete, skillPath(name)+"?"+url.Values(params{}.text("target_uri", target)).Encode(), id, nil, &answer)
	return answer.URI, answer.Count, err
}

// Find searches skills.
func (s Skills) Find(ctx context.Context, id skald.Identity, q skill.Query) ([]skill.Found, error) {
	body := map[string]any{"query": q.Text, "limit": q.Limit, "target_uri": q.Target, "level": q.Levels}
	if q.Threshold > 0 {
		body["score_threshold"] = q.Threshold
	}
	var answer struct{ Skills []skillView }
	err := s.c.api(ctx, http.MethodPost, "/skills/find", id, body, &answer)
	out := make([]skill.Found, len(answer.Skills))
	for i, v := range answer.Skills {
		out[i] = skill.Found{Info: v.info(), Hit: v.URI, Level: v.Level, Score: v.Score, Text: v.Abstract}
	}
	return out, err
}

func skillPath(name string) string { return "/skills/" + url.PathEscape(name) }

// api makes one request of /api/v1 and decodes the result of its envelope into out.
func (c *Client) api(ctx context.Context, method, path string, id skald.Identity, body, out any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = wire.Encode(body); err != nil {
			return skald.Invalid("client", "body", "%w", err)
		}
	}
	return c.apiBytes(ctx, method, path, id, "application/json", raw, out)
}

func (c *Client) apiBytes(ctx context.Context, method, path string, id skald.Identity, media string, body []byte, out any) error {
	if err := c.meet(ctx); err != nil {
		return err
	}
	answer, err := c.send(ctx, method, "/api/v1"+path, body, func(h http.Header) {
		c.identify(h, id)
		if body != nil {
			h.Set("Content-Type", media)
		}
	})
	if err != nil {
		return err
	}
	var envelope struct {
		Result json.RawMessage `json:"result"`
	}
	if err := decode(path, answer, &envelope); err != nil {
		return err
	}
	return decode(path, envelope.Result, out)
}

// upload sends a file and returns the id that an import takes.
func (c *Client) upload(ctx context.Context, id skald.Identity, name string, data []byte) (string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", skald.E("client.upload", skald.KindInternal, "%w", err)
	}
	var answer struct {
		ID string `json:"temp_file_id"`
	}
	err = c.apiBytes(ctx, http.MethodPost, "/resources/temp_upload", id, w.FormDataContentType(), b.Bytes(), &answer)
	return answer.ID, err
}

package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/skill"
)

// Skills is what the skill routes need. A target is the URI of a root of skills, "" the identity's own (to write) or all (to read). Errors:
// KindInvalid names the field; KindNotFound carries the URI.
type Skills interface {
	// Roots lists the roots that a target names, the identity's own first.
	Roots(id skald.Identity, target string) ([]skald.URI, error)
	// Add stores skills; one of the same name is replaced as a whole.
	Add(ctx context.Context, id skald.Identity, target string, list []skill.Bundle, source json.RawMessage) ([]skill.Info, error)
	// Replace stores a skill in the place of the one of that name.
	Replace(ctx context.Context, id skald.Identity, target, name string, b skill.Bundle, source json.RawMessage) (skill.Info, error)
	// List lists skills by root and name, at most limit of each root; 0: no limit.
	List(ctx context.Context, id skald.Identity, target string, limit int) ([]skill.Info, error)
	// Get reads a skill.
	Get(ctx context.Context, id skald.Identity, target, name string) (skill.Details, error)
	// Remove deletes a skill and says how many nodes went.
	Remove(ctx context.Context, id skald.Identity, target, name string) (skald.URI, int, error)
	// Find searches skills, best first.
	Find(ctx context.Context, id skald.Identity, q skill.Query) ([]skill.Found, error)
}

// Uploaded reads what was uploaded through /resources/temp_upload. KindPermission for an id that is not the identity's.
type Uploaded interface {
	// Uploaded returns the content and the name that the uploader gave. KindInvalid when it is larger than most bytes.
	Uploaded(ctx context.Context, id skald.Identity, upload string, most int64) (data []byte, name string, err error)
}

func (h *Handler) skills(mux *http.ServeMux) {
	if h.deps.Skills == nil {
		notServed(mux, "/api/v1/skills", "/api/v1/skills/{rest...}")
		return
	}
	short(mux, "POST /api/v1/skills", h.addSkill)
	full(mux, "GET /api/v1/skills", h.listSkills)
	short(mux, "POST /api/v1/skills/find", h.findSkills)
	full(mux, "POST /api/v1/skills/validate", h.validateSkill)
	full(mux, "GET /api/v1/skills/{skill}", h.showSkill)
	short(mux, "PUT /api/v1/skills/{skill}", h.replaceSkill)
	full(mux, "DELETE /api/v1/skills/{skill}", h.removeSkill)
}

// skillBody is the body of POST and PUT.
type skillBody struct {
	Data       json.RawMessage `json:"data"`
	Upload     string          `json:"temp_file_id"`
	Skills     []string        `json:"skills"`    // of several: only these, by name
	ListOnly   bool            `json:"list_only"` // say what there is, store nothing
	FromSource bool            `json:"from_source"`
	Wait       bool            `json:"wait"`
	Timeout    *float64        `json:"timeout"`
	Source     json.RawMessage `json:"source_metadata"`
	Target     string          `json:"target_uri"`
	Telemetry  json.RawMessage `json:"telemetry"`
}

// bundles reads the skills of a body and where they came from.
func (h *Handler) bundles(r *http.Request, id skald.Identity, b skillBody) ([]skill.Bundle, json.RawMessage, error) {
	switch {
	case b.Upload != "":
		return h.uploadedSkills(r, id, b)
	case b.FromSource:
		return nil, nil, unsupported("a skill cannot be fetched again from its source: send it, or upload it")
	case empty(b.Data):
		return nil, nil, invalid([]string{"body"}, "value_error", "Either 'data' or 'temp_file_id' must be provided")
	}
	var text string
	if json.Unmarshal(b.Data, &text) == nil && isGit(text) {
		return nil, nil, unsupported("skills are not fetched from Git: upload the folder as a zip archive (POST /api/v1/resources/temp_upload)")
	}
	one, err := skill.ReadData(b.Data)
	if err != nil {
		return nil, nil, err
	}
	return []skill.Bundle{one}, sourceOf(b.Source, map[string]any{"type": "inline"}), nil
}

func (h *Handler) uploadedSkills(r *http.Request, id skald.Identity, b skillBody) ([]skill.Bundle, json.RawMessage, error) {
	if h.deps.Uploaded == nil {
		return nil, nil, unsupported("this server takes no uploads: send the text of the SKILL.md as data")
	}
	data, name, err := h.deps.Uploaded.Uploaded(r.Context(), id, b.Upload, skill.MaxBytes)
	if err != nil {
		return nil, nil, err
	}
	list, err := skill.Unpack(data)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range b.Skills {
		if !slices.ContainsFunc(list, func(s skill.Bundle) bool { return s.Name == name }) {
			return nil, nil, skald.Invalid("skills.add", "skills", "the upload holds no skill %q", name)
		}
	}
	if len(b.Skills) > 0 {
		list = slices.DeleteFunc(list, func(s skill.Bundle) bool { return !slices.Contains(b.Skills, s.Name) })
	}
	return list, sourceOf(b.Source, map[string]any{"type": "upload", "original_filename": name}), nil
}

// isGit reports the address of a repository in the place of a skill's text.
func isGit(text string) bool {
	text = strings.TrimSpace(text)
	for _, scheme := range []string{"http://", "https://", "git@", "git://", "git+", "ssh://"} {
		if strings.HasPrefix(text, scheme) && !strings.Contains(text, "\n") {
			return true
		}
	}
	return false
}

// sourceOf is what the caller told about the source, else what is known of it.
func sourceOf(told json.RawMessage, known map[string]any) json.RawMessage {
	if !empty(told) {
		return told
	}
	b, err := wire.Encode(known)
	if err != nil {
		panic(err) // texts always encode
	}
	return b
}

func (h *Handler) addSkill(r *http.Request, id skald.Identity) (any, error) {
	b, err := readSkillBody(r, "data", "temp_file_id", "skills", "list_only", "wait", "timeout", "source_metadata", "target_uri", "telemetry")
	if err != nil {
		return nil, err
	}
	list, source, err := h.bundles(r, id, b)
	if err != nil {
		return nil, err
	}
	if b.ListOnly {
		out := make([]map[string]any, len(list))
		for i, s := range list {
			out[i] = map[string]any{"name": s.Name, "description": s.Description, "path": s.Dir}
		}
		return map[string]any{"skills": out, "total": len(out)}, nil
	}
	added, err := h.deps.Skills.Add(r.Context(), id, b.Target, list, source)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(added))
	for i, info := range added {
		out[i] = addedSkill(info, len(list[i].Files), b.Wait)
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return map[string]any{"installed": out, "total": len(out)}, nil
}

// addedSkill is the answer to a skill that was stored. It is indexed already, so that there is no task to wait for.
func addedSkill(info skill.Info, files int, wait bool) map[string]any {
	out := map[string]any{"status": "success", "root_uri": info.URI, "uri": info.URI, "name": info.Name, "auxiliary_files": files}
	if wait {
		done := map[string]any{"processed": 1, "requeue_count": 0, "error_count": 0, "errors": []any{}}
		out["queue_status"] = map[string]any{"Semantic": done, "Embedding": done}
	}
	return out
}

func (h *Handler) replaceSkill(r *http.Request, id skald.Identity) (any, error) {
	b, err := readSkillBody(r, "data", "temp_file_id", "from_source", "wait", "timeout", "source_metadata", "target_uri", "telemetry")
	if err != nil {
		return nil, err
	}
	list, source, err := h.bundles(r, id, b)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, skald.Invalid("skills.replace", "temp_file_id", "the upload holds %d skills, and one is replaced", len(list))
	}
	info, err := h.deps.Skills.Replace(r.Context(), id, b.Target, r.PathValue("skill"), list[0], source)
	if err != nil {
		return nil, noSkill(err)
	}
	out := addedSkill(info, len(list[0].Files), b.Wait)
	out["action"] = "update"
	return out, nil
}

// readSkillBody decodes a body and refuses members that the route does not have, as OpenViking does.
func readSkillBody(r *http.Request, known ...string) (b skillBody, err error) {
	raw, err := wire.ReadBody(r)
	if err != nil {
		return b, err
	}
	if err := decodeAt(raw, &b, inBody()); err != nil {
		return b, err
	}
	return b, onlyMembers(raw, known...)
}

// onlyMembers refuses members of a body that the route does not know.
func onlyMembers(raw []byte, known ...string) error {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all) // it was decoded before
	var names []string
	for name := range all {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var v issues
	for _, name := range names {
		v.add(inBody(name), "extra_forbidden", "Extra inputs are not permitted")
	}
	return v.err()
}

func (h *Handler) removeSkill(r *http.Request, id skald.Identity) (any, error) {
	name := r.PathValue("skill")
	uri, count, err := h.deps.Skills.Remove(r.Context(), id, (&query{r: r}).text("target_uri"), name)
	if err != nil {
		return nil, noSkill(err)
	}
	return map[string]any{"name": name, "uri": uri, "root_uri": uri, "estimated_deleted_count": count, "privacy_deleted": false}, nil
}

// noSkill says what is missing in OpenViking's words.
func noSkill(err error) error {
	e := wire.Classify(err)
	if e.Kind != skald.KindNotFound {
		return err
	}
	return &wire.Failure{Kind: e.Kind, Message: "Skill not found: " + e.URI, Details: map[string]any{"type": "skill", "resource": e.URI}}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

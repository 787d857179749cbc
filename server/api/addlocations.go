package api

import (
	"encoding/json"
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tenant"
)

// addLocations are a caller's own choice where resources and skills go that are added without a place.
func (h *Handler) addLocations(mux *http.ServeMux) {
	const path = "/api/v1/user-settings/add-locations"
	short(mux, "GET "+path, func(r *http.Request, id skald.Identity) (any, error) {
		return renderTargets(h.deps.Admin.Config(id).Targets), nil
	})
	short(mux, "PATCH "+path, h.changeTargets)
	short(mux, "DELETE "+path, func(r *http.Request, id skald.Identity) (any, error) {
		return h.setTargets(r, id, tenant.Targets{})
	})
}

// renderTargets shows the choice. There is no default above it, so what is chosen is what holds.
func renderTargets(t tenant.Targets) map[string]any {
	chosen := map[string]any{"resource_uri": orNull(t.Resource), "skill_uri": orNull(t.Skill)}
	return map[string]any{"override": chosen, "effective": chosen}
}

func (h *Handler) changeTargets(r *http.Request, id skald.Identity) (any, error) {
	var raw json.RawMessage
	if err := decode(r, &raw, false); err != nil {
		return nil, err
	}
	t, err := h.targets(raw, id, h.deps.Admin.Config(id).Targets)
	if err != nil {
		return nil, err
	}
	return h.setTargets(r, id, t)
}

func (h *Handler) setTargets(r *http.Request, id skald.Identity, t tenant.Targets) (any, error) {
	if err := h.deps.Admin.Ensure(r.Context(), id, skald.RankUser); err != nil {
		return nil, tenantError(err)
	}
	c, err := h.deps.Admin.ChangeUserConfig(r.Context(), id.Account, id.User, func(c *tenant.UserConfig) { c.Targets = t })
	if err != nil {
		return nil, tenantError(err)
	}
	return renderTargets(c.Targets), nil
}

// targets puts what an object says over t: a URI, or null for none.
func (h *Handler) targets(raw json.RawMessage, id skald.Identity, t tenant.Targets) (tenant.Targets, error) {
	if isNull(raw) {
		return t, nil
	}
	var given map[string]*string
	if err := decodeObject(raw, inBody(), &given); err != nil {
		return t, err
	}
	for name, to := range map[string]*string{"resource_uri": &t.Resource, "skill_uri": &t.Skill} {
		value, said := given[name]
		if !said {
			continue
		}
		if *to = ""; value == nil || *value == "" {
			continue
		}
		uri, err := skald.ParseURI(*value, id, h.deps.Policy)
		if err != nil {
			return t, err
		}
		if !h.takes(name, uri, id) {
			return t, skald.Invalid("user_settings", name, "%s is no place for it: resources go below viking://resources or viking://~/resources, "+
				"skills into viking://~/skills or viking://agent/skills", uri)
		}
		*to = string(uri)
	}
	return t, nil
}

// takes reports whether a place takes resources, or skills.
func (h *Handler) takes(name string, uri skald.URI, id skald.Identity) bool {
	home := h.deps.Policy.UserScope(id).RootURI()
	if name == "skill_uri" {
		return uri == home.Join("skills") || uri == "viking://agent/skills"
	}
	for _, root := range []skald.URI{"viking://resources", home.Join("resources")} {
		if uri == root || strings.HasPrefix(string(uri), string(root)+"/") {
			return true
		}
	}
	return false
}

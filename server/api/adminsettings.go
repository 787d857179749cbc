package api

import (
	"encoding/json"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tenant"
)

func (h *Handler) adminSettings(mux *http.ServeMux) {
	const account = "/api/v1/admin/accounts/{account}/settings"
	const user = "/api/v1/admin/accounts/{account}/users/{user}/settings"
	full(mux, "GET "+account, h.accountSettings)
	full(mux, "PATCH "+account, h.changeAccountSettings)
	full(mux, "GET "+user, h.userSettings)
	full(mux, "PATCH "+user, h.changeUserSettings)
	full(mux, "GET /api/v1/admin/agent-evolution", h.evolution)
	full(mux, "PUT /api/v1/admin/agent-evolution", h.setEvolution)
}

func (h *Handler) accountSettings(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	s, err := h.deps.Admin.Settings(r.Context(), account)
	if err != nil {
		return nil, tenantError(err)
	}
	return h.renderSettings(account, s), nil
}

// renderSettings shows what holds, and what the account says of its own. Access lists are not built, so they are off.
func (h *Handler) renderSettings(account string, s tenant.Settings) map[string]any {
	overrides := map[string]any{}
	evolution, policy := Switch{}, h.deps.Policy
	if s.Evolution != nil {
		evolution.Enabled = *s.Evolution
		overrides["agent_evolution"] = evolution
	}
	if s.Policy != nil {
		policy = *s.Policy
		overrides["namespace_policy"] = policy
	}
	return map[string]any{"account_id": account, "overrides": overrides,
		"settings": map[string]any{"agent_evolution": evolution, "acl": Switch{}, "namespace_policy": policy}}
}

func (h *Handler) changeAccountSettings(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	var b struct {
		Evolution *Switch         `json:"agent_evolution"`
		Policy    *skald.Policy   `json:"namespace_policy"`
		ACL       json.RawMessage `json:"acl"`
	}
	if err := decodeExact(r, &b); err != nil {
		return nil, err
	}
	if !isNull(b.ACL) {
		return nil, unsupported("Skald has no access lists within an account")
	}
	change := tenant.Settings{Policy: b.Policy}
	if b.Evolution != nil {
		change.Evolution = &b.Evolution.Enabled
	}
	s, err := h.deps.Admin.ChangeSettings(r.Context(), account, change)
	if err != nil {
		return nil, tenantError(err)
	}
	return h.renderSettings(account, s), nil
}

// evolution and setEvolution are the caller's own account's.
func (h *Handler) evolution(r *http.Request, id skald.Identity) (any, error) {
	if id.Rank != skald.RankRoot && id.Rank != skald.RankAdmin {
		return nil, skald.E("admin", skald.KindPermission, "this takes the role root or admin")
	}
	s, err := h.deps.Admin.Settings(r.Context(), id.Account)
	if err != nil {
		return nil, tenantError(err)
	}
	return map[string]any{"account_id": id.Account, "enabled": s.Evolution != nil && *s.Evolution}, nil
}

func (h *Handler) setEvolution(r *http.Request, id skald.Identity) (any, error) {
	if id.Rank != skald.RankRoot && id.Rank != skald.RankAdmin {
		return nil, skald.E("admin", skald.KindPermission, "this takes the role root or admin")
	}
	var b struct {
		Enabled *bool `json:"enabled"`
	}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if b.Enabled == nil {
		return nil, invalid(inBody("enabled"), "missing", "Field required")
	}
	if _, err := h.deps.Admin.ChangeSettings(r.Context(), id.Account, tenant.Settings{Evolution: b.Enabled}); err != nil {
		return nil, tenantError(err)
	}
	return map[string]any{"account_id": id.Account, "enabled": *b.Enabled}, nil
}

func (h *Handler) userSettings(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	user := r.PathValue("user")
	c, err := h.deps.Admin.UserConfig(r.Context(), account, user)
	if err != nil {
		return nil, tenantError(err)
	}
	return renderConfig(account, user, c)
}

func renderConfig(account, user string, c tenant.UserConfig) (any, error) {
	policy, err := parseMemoryPolicy(c.Memory)
	if policy == nil {
		policy = &MemoryPolicy{Self: Switch{true}, Peer: Switch{true}, Working: Switch{true}}
	}
	return map[string]any{"account_id": account, "user_id": user, "memory_policy": policy}, err
}

func (h *Handler) changeUserSettings(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	var b struct {
		Memory json.RawMessage `json:"memory_policy"`
	}
	if err := decodeExact(r, &b); err != nil {
		return nil, err
	}
	if b.Memory == nil {
		return nil, invalid(inBody("memory_policy"), "missing", "Field required")
	}
	if _, err := parseMemoryPolicy(b.Memory); err != nil {
		return nil, err
	}
	user := r.PathValue("user")
	c, err := h.deps.Admin.ChangeUserConfig(r.Context(), account, user, func(c *tenant.UserConfig) {
		if c.Memory = b.Memory; isNull(b.Memory) {
			c.Memory = nil
		}
	})
	if err != nil {
		return nil, tenantError(err)
	}
	return renderConfig(account, user, c)
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tenant"
)

// Admin manages accounts, users and keys. Errors about a name have Op "tenant", what it names in Field, and the name in URI.
type Admin interface {
	Accounts(ctx context.Context) ([]tenant.Account, error)
	CreateAccount(ctx context.Context, u tenant.NewUser) (key string, err error)
	DeleteAccount(ctx context.Context, by skald.Scope, account string) (tenant.Deletion, error)
	Settings(ctx context.Context, account string) (tenant.Settings, error)
	ChangeSettings(ctx context.Context, account string, s tenant.Settings) (tenant.Settings, error)

	Users(ctx context.Context, account string, q tenant.UserQuery) ([]tenant.User, error)
	AddUser(ctx context.Context, u tenant.NewUser) (key string, err error)
	DeleteUser(ctx context.Context, by skald.Scope, account, user string) (tenant.Deletion, error)
	Promote(ctx context.Context, account, user string) error
	NewKey(ctx context.Context, account, user, seed string) (string, error)
	UserConfig(ctx context.Context, account, user string) (tenant.UserConfig, error)
	ChangeUserConfig(ctx context.Context, account, user string, change func(*tenant.UserConfig)) (tenant.UserConfig, error)

	// Config and Ensure are for the callers themselves, registered or not.
	Config(id skald.Identity) tenant.UserConfig
	Ensure(ctx context.Context, id skald.Identity, role skald.Rank) error
}

func (h *Handler) admin(mux *http.ServeMux) {
	if h.deps.Admin == nil {
		notServed(mux, "/api/v1/user-settings/add-locations")
		return
	}
	full(mux, "GET /api/v1/admin/accounts", h.listAccounts)
	full(mux, "POST /api/v1/admin/accounts", h.createAccount)
	full(mux, "DELETE /api/v1/admin/accounts/{account}", h.deleteAccount)
	full(mux, "POST /api/v1/admin/migrate", h.migrate)
	h.adminUsers(mux)
	h.adminSettings(mux)
	h.addLocations(mux)
}

// rooted lets root pass.
func rooted(id skald.Identity) error {
	if id.Rank != skald.RankRoot {
		return skald.E("admin", skald.KindPermission, "this takes the role root")
	}
	return nil
}

// managed is the account that a path names, for those who manage it: root, and an admin of its own.
func managed(r *http.Request, id skald.Identity) (account string, err error) {
	account = r.PathValue("account")
	switch {
	case id.Rank == skald.RankRoot, id.Rank == skald.RankAdmin && account == id.Account:
		return account, nil
	case id.Rank == skald.RankAdmin:
		return "", skald.E("admin", skald.KindPermission, "an admin manages the own account only: %s", id.Account)
	}
	return "", skald.E("admin", skald.KindPermission, "this takes the role root or admin")
}

func (h *Handler) listAccounts(r *http.Request, id skald.Identity) (any, error) {
	if err := rooted(id); err != nil {
		return nil, err
	}
	list, err := h.deps.Admin.Accounts(r.Context())
	out := make([]map[string]any, len(list))
	for i, a := range list {
		out[i] = map[string]any{"account_id": a.ID, "created_at": timestamp(a.Created), "user_count": a.Users, "status": a.Status}
		if a.Task != "" {
			out[i]["task_id"] = a.Task
		}
	}
	return out, err
}

// newUser is the body that makes a user.
type newUser struct {
	Account string     `json:"account_id"`
	Admin   string     `json:"admin_user_id"`
	User    string     `json:"user_id"`
	Role    skald.Rank `json:"role"`
	Seed    string     `json:"seed"`
	Config  *struct {
		Targets json.RawMessage `json:"add_targets"`
		Memory  json.RawMessage `json:"memory_policy"`
	} `json:"user_config"`
}

// of makes a tenant's user of the body.
func (h *Handler) newUser(b newUser, account, user string) (tenant.NewUser, error) {
	u := tenant.NewUser{Account: account, User: user, Role: b.Role, Seed: b.Seed, NoKey: h.deps.Keyless}
	if b.Config == nil {
		return u, nil
	}
	if !isNull(b.Config.Memory) {
		if _, err := parseMemoryPolicy(b.Config.Memory); err != nil {
			return u, err
		}
		u.Config.Memory = b.Config.Memory
	}
	var err error
	u.Config.Targets, err = h.targets(b.Config.Targets, skald.Identity{Account: account, User: user, Agent: skald.DefaultIdentity.Agent}, tenant.Targets{})
	return u, err
}

func (h *Handler) createAccount(r *http.Request, id skald.Identity) (any, error) {
	if err := rooted(id); err != nil {
		return nil, err
	}
	var b newUser
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	var v issues
	for field, value := range map[string]string{"account_id": b.Account, "admin_user_id": b.Admin} {
		if value == "" {
			v.add(inBody(field), "missing", "Field required")
		}
	}
	slices.SortFunc(v, func(a, b issue) int { return strings.Compare(a.Loc[1], b.Loc[1]) })
	if err := v.err(); err != nil {
		return nil, err
	}
	u, err := h.newUser(b, b.Account, b.Admin)
	if err != nil {
		return nil, err
	}
	key, err := h.deps.Admin.CreateAccount(r.Context(), u)
	if err != nil {
		return nil, tenantError(err)
	}
	return withKey(map[string]any{"account_id": u.Account, "admin_user_id": u.User}, key), nil
}

// withKey adds a key to an answer, the only one that ever shows it.
func withKey(out map[string]any, key string) map[string]any {
	if key != "" {
		out["user_key"] = key
	}
	return out
}

func (h *Handler) deleteAccount(r *http.Request, id skald.Identity) (any, error) {
	if err := rooted(id); err != nil {
		return nil, err
	}
	d, err := h.deps.Admin.DeleteAccount(r.Context(), h.deps.Policy.UserScope(id), r.PathValue("account"))
	if err != nil {
		return nil, tenantError(err)
	}
	return accepted{d}, nil
}

// migrate moves an old OpenViking's folders; Skald never had them.
func (h *Handler) migrate(r *http.Request, id skald.Identity) (any, error) {
	if err := rooted(id); err != nil {
		return nil, err
	}
	var b struct {
		Action string `json:"action"`
	}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if b.Action != "migrate" && b.Action != "cleanup" {
		return nil, skald.Invalid("admin", "action", "%q is not migrate or cleanup", b.Action)
	}
	return nil, unsupported("Skald has no folders of an older layout to migrate: import a pack of the old server instead")
}

// accepted is a result that answers 202.
type accepted struct{ result any }

func (a accepted) respond(w http.ResponseWriter, r *http.Request) { wire.WriteAccepted(w, r, a.result) }

// tenantError puts the errors of accounts and users into OpenViking's form.
func tenantError(err error) error {
	var busy *tenant.BeingDeleted
	var e *skald.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy):
		return &wire.Failure{Kind: skald.KindConflict, Status: http.StatusPreconditionFailed, Code: "FAILED_PRECONDITION",
			Message: busy.Error(), Details: map[string]any{"task_id": busy.Task}}
	case errors.Is(err, tenant.ErrConfigured):
		return precondition(tenant.ErrConfigured)
	case !errors.As(err, &e) || e.Op != "tenant" || e.URI == "":
		return err
	}
	name := strings.ToUpper(e.Field[:1]) + e.Field[1:]
	message := name + " not found: " + e.URI
	if e.Kind == skald.KindExists {
		message = name + " already exists: " + e.URI
	}
	return &wire.Failure{Kind: e.Kind, Message: message, Details: map[string]any{"type": e.Field, "resource": e.URI}}
}

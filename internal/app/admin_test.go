package app

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/tenant"
)

// TestAdminAPI goes through OpenViking's admin API in the order of a user's first day: every status and what the answer says is what OpenViking
// 0.5.2 was seen to answer, but that no listing shows a key.
func TestAdminAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys["root"] = w.root
	const accounts, users = "/api/v1/admin/accounts", "/api/v1/admin/accounts/new/users"
	for _, c := range []struct {
		who, method, path, body string
		status                  int
		want                    string
	}{
		{"root", "GET", accounts, "", 200, `"account_id":"default","created_at":"`},
		{"root", "POST", accounts, `{"account_id":"new","admin_user_id":"nora","extra":1}`, 200, `"user_key":"bmV3.bm9yYQ.`},
		{"root", "POST", accounts, `{"account_id":"new","admin_user_id":"nora"}`, 409, `"ALREADY_EXISTS","message":"Account already exists: new","details":{"resource":"new","type":"account"}`},
		{"root", "POST", accounts, `{"account_id":"_new","admin_user_id":"nora"}`, 400, "INVALID_ARGUMENT"},
		{"root", "POST", accounts, `{"account_id":"x"}`, 400, "body.admin_user_id: Field required"},
		{"root", "POST", accounts, `{"account_id":"seeded","admin_user_id":"ann","seed":"s1"}`, 200,
			"c2VlZGVk.YW5u.OTA5ZTEzZWMzOTRmNzM4OWFhZDNhMmE3ZWZkY2U0Yjc3MDQ4OTEwMThjYTNiNzVjYmNmOTAzZjZjNDlhMzU2NA"},
		{"root", "POST", users, `{"user_id":"uwe"}`, 200, `"account_id":"new","user_id":"uwe","user_key":"`},
		{"root", "POST", users, `{"user_id":"uwe"}`, 409, "User already exists: uwe"},
		{"root", "POST", users, `{"user_id":"carl","role":"root"}`, 403, "PERMISSION_DENIED"},
		{"root", "POST", users, `{"user_id":"carl","role":"boss"}`, 400, "INVALID_ARGUMENT"},
		{"root", "POST", "/api/v1/admin/accounts/none/users", `{"user_id":"carl"}`, 404, "Account not found: none"},
		{"root", "GET", users, "", 200, `{"user_id":"nora","role":"admin","key_prefix":"`},
		{"root", "GET", users + "?limit=1&name=u*", "", 200, `[{"user_id":"uwe","role":"user","key_prefix":"`},
		{"root", "GET", users + "?role=x", "", 200, `"result":[]`},
		{"root", "PUT", users + "/uwe/role", `{"role":"admin"}`, 200, `"role":"admin"`},
		{"root", "PUT", users + "/uwe/role", `{"role":"user"}`, 400, "INVALID_ARGUMENT"},
		{"root", "PUT", users + "/zed/role", `{"role":"admin"}`, 404, "User not found: zed"},
		{"root", "POST", users + "/uwe/key", "", 200, `"result":{"user_key":"bmV3.dXdl.`},
		{"root", "POST", users + "/zed/key", "", 404, "User not found: zed"},
		{"root", "GET", "/api/v1/admin/accounts/new/settings", "", 200, `"agent_evolution":{"enabled":false}`},
		{"root", "PATCH", "/api/v1/admin/accounts/new/settings", `{"agent_evolution":{"enabled":true}}`, 200, `"overrides":{"agent_evolution":{"enabled":true}}`},
		{"root", "PATCH", "/api/v1/admin/accounts/new/settings", `{"namespace_policy":{"isolateUserScopeByAgent":true}}`, 200, `"isolateUserScopeByAgent":true`},
		{"root", "PATCH", "/api/v1/admin/accounts/new/settings", `{"x":1}`, 400, "Extra inputs are not permitted"},
		{"root", "PATCH", "/api/v1/admin/accounts/new/settings", `{"acl":{"enabled":true}}`, 501, "UNIMPLEMENTED"},
		{"root", "GET", users + "/uwe/settings", "", 200, `"memory_policy":{"self":{"enabled":true}`},
		{"root", "PATCH", users + "/uwe/settings", `{"memory_policy":{"self":{"enabled":false}}}`, 200, `"self":{"enabled":false}`},
		{"root", "PATCH", users + "/uwe/settings", `{"memory_policy":null}`, 200, `"self":{"enabled":true}`},
		{"root", "PATCH", users + "/uwe/settings", `{"memory_policy":{"x":1}}`, 400, "memory_policy"},
		{"root", "GET", users + "/zed/settings", "", 404, "User not found: zed"},
		{"root", "POST", "/api/v1/admin/migrate", `{"action":"migrate"}`, 501, "UNIMPLEMENTED"},
		{"root", "POST", "/api/v1/admin/migrate", `{"action":"x"}`, 400, "INVALID_ARGUMENT"},
		{"root", "GET", "/api/v1/system/status", "", 200, `"user":"default"`},
		{"root", "DELETE", users + "/zed", "", 404, "User not found: zed"},
		{"root", "DELETE", "/api/v1/admin/accounts/default/users/default", "", 412, "FAILED_PRECONDITION"},
		{"root", "DELETE", "/api/v1/admin/accounts/default", "", 412, "FAILED_PRECONDITION"},
		{"root", "DELETE", "/api/v1/admin/accounts/new", "", 202, `"account_id":"new","status":"deleting","task_id":"`},
		{"root", "GET", accounts, "", 200, `"account_id":"new"`},

		{"ann", "GET", "/api/v1/admin/accounts/acme/users", "", 200, `"user_id":"bob"`},
		{"ann", "POST", "/api/v1/admin/accounts/acme/users", `{"user_id":"dora","role":"admin"}`, 200, "user_key"},
		{"ann", "PUT", "/api/v1/admin/agent-evolution", `{"enabled":true}`, 200, `"account_id":"acme","enabled":true`},
		{"ann", "GET", "/api/v1/admin/agent-evolution", "", 200, `"enabled":true`},
		{"bob", "GET", "/api/v1/admin/agent-evolution", "", 403, "PERMISSION_DENIED"},
		{"bob", "GET", "/api/v1/user-settings/add-locations", "", 200, `{"status":"ok","result":{"effective":{"resource_uri":null,"skill_uri":null},"override":{"resource_uri":null`},
		{"bob", "PATCH", "/api/v1/user-settings/add-locations", `{"resource_uri":"viking://resources/x"}`, 200, `"resource_uri":"viking://resources/x","skill_uri":null`},
		{"bob", "PATCH", "/api/v1/user-settings/add-locations", `{"skill_uri":"viking://~/skills"}`, 200, `"resource_uri":"viking://resources/x","skill_uri":"viking://user/bob/skills"`},
		{"bob", "PATCH", "/api/v1/user-settings/add-locations", `{"skill_uri":"viking://resources"}`, 400, "INVALID_ARGUMENT"},
		{"bob", "PATCH", "/api/v1/user-settings/add-locations", `{"resource_uri":"viking://user/bob/memories"}`, 400, "INVALID_ARGUMENT"},
		{"bob", "PATCH", "/api/v1/user-settings/add-locations", `{"resource_uri":null}`, 200, `"resource_uri":null,"skill_uri":"viking://user/bob/skills"`},
		{"bob", "DELETE", "/api/v1/user-settings/add-locations", "", 200, `"skill_uri":null`},
	} {
		got := w.as(c.who, request{c.method, c.path, c.body})
		body := got.Body.String()
		if got.Code != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %s %s %s: %d, want %d with %s: %s", c.who, c.method, c.path, c.body, got.Code, c.status, c.want, body)
		}
		if c.method == "GET" && strings.Contains(body, `"api_key"`) {
			t.Errorf("%s shows a key: %s", c.path, body)
		}
	}
}

// TestAccountPolicyKeepsAgentsApart: once an admin has said so, an agent does not see what another agent of the same user stored, whatever a
// request asks for; the account next door is as it was.
func TestAccountPolicyKeepsAgentsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := w.as("ann", request{"PATCH", "/api/v1/admin/accounts/acme/settings",
		`{"namespace_policy":{"isolateUserScopeByAgent":true,"isolateAgentScopeByUser":true}}`})
	if set.Code != 200 {
		t.Fatalf("%d %s", set.Code, set.Body)
	}
	as := func(agent, method, path, body string) (int, string) {
		got := w.ask(request{method, path, body}, "X-API-Key", w.keys["bob"], "X-OpenViking-Agent", agent)
		return got.Code, got.Body.String()
	}
	if code, body := as("one", "POST", "/api/v1/sessions/apart/messages", `{"role":"user","content":"canaryone likes pears"}`); code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	if _, body := as("one", "GET", "/api/v1/sessions/apart", ""); !strings.Contains(body, "viking://user/bob/agent/one/sessions/apart") {
		t.Errorf("stored elsewhere: %s", body)
	}
	if code, body := as("two", "GET", "/api/v1/sessions/apart", ""); code != 404 {
		t.Errorf("agent two reads it: %s", body)
	}
	if _, body := as("two", "GET", "/engine/v1/find?query=pears", ""); strings.Contains(body, "canaryone") {
		t.Errorf("agent two finds it: %s", body)
	}
	if _, body := as("one", "GET", "/engine/v1/find?query=pears", ""); !strings.Contains(body, "canaryone") {
		t.Errorf("agent one does not find it: %s", body)
	}
	if got := w.as("eve", request{"GET", "/api/v1/sessions/s1", ""}); !strings.Contains(got.Body.String(), "viking://user/eve/sessions/s1") {
		t.Errorf("the policy reaches another account: %s", got.Body)
	}
}

// TestClientAdmin: what `skald admin` asks of a daemon.
func TestClientAdmin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	daemon := httptest.NewServer(w.server)
	defer daemon.Close()
	ctx, admin := t.Context(), client.New(daemon.URL, w.root, client.Options{HTTP: daemon.Client()}).Admin()
	key, err := admin.CreateAccount(ctx, tenant.NewUser{Account: "new", User: "nora"})
	if err != nil || strings.Count(key, ".") != 2 {
		t.Fatalf("%q %v", key, err)
	}
	if key, err = admin.AddUser(ctx, tenant.NewUser{Account: "new", User: "uwe", Role: skald.RankUser}); err != nil || key == "" {
		t.Fatalf("%q %v", key, err)
	}
	if renewed, err := admin.NewKey(ctx, "new", "uwe", ""); err != nil || renewed == key {
		t.Errorf("%q %v", renewed, err)
	}
	if err := admin.Promote(ctx, "new", "uwe"); err != nil {
		t.Error(err)
	}
	if list, err := admin.Users(ctx, "new", tenant.UserQuery{Role: skald.RankAdmin, Limit: 10}); err != nil || len(list) != 2 || list[1].ID != "uwe" {
		t.Errorf("%+v %v", list, err)
	}
	on := true
	s, err := admin.ChangeSettings(ctx, "new", tenant.Settings{Evolution: &on, Policy: &skald.Policy{IsolateAgentScopeByUser: true}})
	if err != nil || s.Evolution == nil || !*s.Evolution || s.Policy == nil || !s.Policy.IsolateAgentScopeByUser {
		t.Errorf("%+v %v", s, err)
	}
	if d, err := admin.DeleteUser(ctx, "new", "uwe"); err != nil || d.Task == "" || d.User != "uwe" {
		t.Errorf("%+v %v", d, err)
	}
	if d, err := admin.DeleteAccount(ctx, "new"); err != nil || d.Task == "" {
		t.Errorf("%+v %v", d, err)
	}
	list, err := admin.Accounts(ctx)
	if err != nil || !slices.ContainsFunc(list, func(a tenant.Account) bool {
		return a.ID == "new" && a.Status == tenant.Deleting && !a.Created.IsZero()
	}) {
		t.Errorf("%+v %v", list, err)
	}
	_, err = admin.Users(ctx, "none", tenant.UserQuery{})
	if skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("users of no account: %v", err)
	}
	if _, err := client.New(daemon.URL, w.keys["bob"], client.Options{HTTP: daemon.Client()}).Admin().Accounts(ctx); skald.KindOf(err) != skald.KindPermission {
		t.Errorf("a user lists accounts: %v", err)
	}
}

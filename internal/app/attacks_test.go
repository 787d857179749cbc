package app

import "strings"

// attack is a request for what is ann's of acme, by somebody else.
type attack struct {
	request
	open     bool // needs no key
	managed  bool // the root key may come here
	refused  bool // foreigners get 403
	destroys bool // with the root key it would change the world of the test
}

// attacks says how every route is tried: with ann's names in path, query and body. job and result are the ids of a job of hers and of
// a tool's result. A route without a row fails the test.
func attacks(job, result string) map[string][]attack {
	const (
		home = "viking://user/ann"
		note = home + "/notes/plan.md"
		s1   = home + "/sessions/s1"
	)
	rows := map[string][]attack{}
	// row fills the placeholders of a pattern; tail is added to its path.
	row := func(pattern, tail, body string) *attack {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = "GET", pattern
		}
		path = strings.NewReplacer("{id}", "s1", "{account}", "acme", "{user}", "ann", "{archive}", "archive_001", "{result}", result, "{skill}", "brew",
			"{task}", job, "{name}", "queue", "{rest...}", "x", "{action}", "resolve").Replace(path)
		list := append(rows[pattern], attack{request: request{method, path + tail, body}})
		rows[pattern] = list
		return &list[len(list)-1]
	}
	for _, p := range []string{"GET /health", "GET /healthz", "GET /ready", "GET /readyz", "GET /engine/v1/handshake"} {
		row(p, "", "").open = true
	}
	row("GET /metrics", "", "").managed = true
	row("/", "nothing/here", "")

	tryAdmin(row)
	trySessions(row, home)
	tryFiles(row, home, note, s1)
	tryEngine(row, home, note, s1, job)

	row("GET /api/v1/tasks", "?resource_id=s1", "").managed = true
	for _, p := range []string{"GET /api/v1/tasks/{id}", "POST /api/v1/tasks/{id}/cancel"} {
		method, _, _ := strings.Cut(p, " ")
		tail := strings.TrimPrefix(p, method+" /api/v1/tasks/{id}")
		rows[p] = []attack{{request: request{method, "/api/v1/tasks/" + job + tail, ""}, managed: true, destroys: method == "POST"}}
	}
	return rows
}

type rowOf func(pattern, tail, body string) *attack

func tryAdmin(row rowOf) {
	const accounts, user = "/api/v1/admin/accounts", "/api/v1/admin/accounts/{account}/users/{user}"
	for _, p := range []struct {
		pattern, body string
		destroys, own bool
	}{
		{"GET " + accounts, "", false, false},
		{"POST " + accounts, `{"account_id":"mine","admin_user_id":"eve"}`, true, false},
		{"DELETE " + accounts + "/{account}", "", true, false},
		{"GET " + accounts + "/{account}/settings", "", false, false},
		{"PATCH " + accounts + "/{account}/settings", `{"namespace_policy":{"isolateUserScopeByAgent":true}}`, true, false},
		{"GET " + accounts + "/{account}/users", "", false, false},
		{"POST " + accounts + "/{account}/users", `{"user_id":"spy","role":"admin"}`, true, false},
		{"DELETE " + user, "", true, false},
		{"PUT " + user + "/role", `{"role":"admin"}`, true, false},
		{"POST " + user + "/key", `{}`, true, false},
		{"GET " + user + "/settings", "", false, false},
		{"PATCH " + user + "/settings", `{"memory_policy":null}`, true, false},
		{"POST /api/v1/admin/migrate", `{"action":"migrate"}`, false, false},
		{"GET /api/v1/admin/agent-evolution", "", false, true}, // the caller's own account's
		{"PUT /api/v1/admin/agent-evolution", `{"enabled":true}`, true, true},
	} {
		a := row(p.pattern, "", p.body)
		a.managed, a.refused, a.destroys = true, !p.own, p.destroys
	}
	row("/api/v1/admin/{rest...}", "", "").managed = true
	row("GET /api/v1/user-settings/add-locations", "?user_id=ann&account_id=acme", "")
	row("PATCH /api/v1/user-settings/add-locations", "", `{"resource_uri":"viking://user/ann/resources"}`).refused = true
	row("DELETE /api/v1/user-settings/add-locations", "?user_id=ann", "")
	row("GET /api/v1/system/status", "", "").managed = true
	row("POST /api/v1/system/wait", "", `{"timeout":1}`).managed = true
	row("POST /api/v1/system/consistency", "", `{"uri":"viking://user/ann"}`)
	row("POST /api/v1/system/backend/sync-retry", "", `{"uri":"viking://user/ann"}`).managed = true
	row("POST /api/v1/system/backend/sync-status", "", `{"uri":"viking://user/ann"}`).managed = true
	row("GET /api/v1/system/sync/{rest...}", "", "").managed = true
	row("POST /api/v1/system/sync/{rest...}", "", "").managed = true
	row("GET /api/v1/observer/{name}", "", "").managed = true
	row("GET /api/v1/console/{rest...}", "", "").managed = true
	row("GET /api/v1/debug/health", "", "").managed = true
	row("GET /api/v1/debug/vector/count", "?uri=viking://user/ann", "")
	row("GET /api/v1/debug/vector/scroll", "?uri=viking://user/ann", "")
	row("GET /api/v1/debug/vector/scroll", "", "")
	row("GET /api/v1/stats/memories", "", "")
	row("GET /api/v1/stats/sessions/{id}", "", "")
	for _, p := range []string{
		"/api/v1/acl", "/api/v1/acl/{rest...}", "/api/v1/agent-evolution/{rest...}", "/api/v1/auth/oauth/{rest...}", "/api/v1/compile",
		"/api/v1/compile/{rest...}", "/api/v1/privacy-configs", "/api/v1/privacy-configs/{rest...}", "/api/v1/snapshot/{rest...}", "/bot/v1/{rest...}",
		"POST /api/v1/auth/oauth-verify", "POST /api/v1/openviking-assets/{action}",
	} {
		row(p, "", `{}`)
	}
}

func trySessions(row rowOf, home string) {
	const session = "/api/v1/sessions/{id}"
	const ids = `"user_id":"ann","account_id":"acme","user":{"account_id":"acme","user_id":"ann"}`
	row("GET /api/v1/sessions", "?user_id=ann&account_id=acme", "")
	row("POST /api/v1/sessions", "", `{"session_id":"s1",`+ids+`}`)
	row("GET "+session, "?auto_create=true", "")
	row("GET "+session+"/context", "", "")
	row("GET "+session+"/archives/{archive}", "", "")
	row("GET "+session+"/tool-results", "", "")
	row("GET "+session+"/tool-results/{result}", "?limit=-1", "")
	row("GET "+session+"/tool-results/{result}/search", "?q=tool", "")
	row("PATCH "+session+"/config", "", `{"auto_commit_policy":{"message_count_threshold":1}}`)
	row("POST "+session+"/messages", "", `{"role":"user","content":"not ann",`+ids+`}`)
	row("POST "+session+"/messages/batch", "", `{"messages":[{"role":"user","content":"not ann","role_id":"ann"}]}`)
	row("POST "+session+"/used", "", `{"contexts":["`+home+`/memories/profile.md"]}`)
	row("POST "+session+"/commit", "", `{}`)
	row("POST "+session+"/extract", "", "")
	row("POST "+session+"/archives/{archive}/retry", "", "")
	row("DELETE "+session, "", "")
}

func tryFiles(row rowOf, home, note, s1 string) {
	for _, uri := range []string{home, note, s1, "viking://user", "viking://", "viking://user/ann/../ann/notes", "viking://~/../ann/notes", "viking://agent/main"} {
		for _, p := range []string{"fs/ls", "fs/tree", "fs/stat", "fs/attrs", "content/read", "content/abstract", "content/overview", "content/download"} {
			a := row("GET /api/v1/"+p, "?uri="+uri+"&recursive=true", "")
			a.refused = strings.HasPrefix(uri, home) || strings.Contains(uri, "..")
		}
	}
	for _, target := range []string{home, note, s1, home + "/memories"} {
		row("DELETE /api/v1/fs", "?recursive=true&uri="+target, "").refused = true
		row("POST /api/v1/fs/mkdir", "", `{"uri":"`+target+`/x"}`).refused = true
		row("POST /api/v1/fs/mv", "", `{"from_uri":"`+target+`","to_uri":"viking://~/stolen"}`).refused = true
		row("POST /api/v1/fs/cp", "", `{"from_uri":"`+target+`","to_uri":"viking://~/stolen","recursive":true}`).refused = true
		row("POST /api/v1/content/write", "", `{"uri":"`+target+`","content":"not ann"}`).refused = true
		row("POST /api/v1/content/reindex", "", `{"uri":"`+target+`"}`).refused = true
		row("POST /api/v1/content/set_tags", "", `{"uri":"`+target+`","tags":["a=b"]}`).refused = true
		row("POST /api/v1/fs/attrs/set_tags", "", `{"uri":"`+target+`","tags":["a=b"]}`).refused = true
		row("POST /api/v1/search/grep", "", `{"uri":"`+target+`","pattern":"."}`).refused = true
		row("POST /api/v1/search/glob", "", `{"uri":"`+target+`","pattern":"**"}`).refused = true
		row("POST /api/v1/search/find", "", `{"query":"tea in the morning","target_uri":"`+target+`"}`).refused = true
		row("POST /api/v1/search/search", "", `{"query":"tea in the morning","target_uri":"`+target+`","session_id":"s1"}`).refused = true
		row("POST /api/v1/pack/export", "", `{"uri":"`+target+`"}`).refused = true
	}
	row("POST /api/v1/fs/mv", "", `{"from_uri":"viking://~/notes","to_uri":"`+home+`/from-eve"}`).refused = true
	row("POST /api/v1/fs/cp", "", `{"from_uri":"viking://~/notes","to_uri":"`+home+`/from-eve","recursive":true}`).refused = true
	row("POST /api/v1/content/batch-write", "", `{"root_uri":"`+home+`","operations":[{"uri":"`+note+`","content":"not ann","mode":"upsert"}]}`).refused = true
	row("POST /api/v1/content/batch-write", "", `{"root_uri":"viking://~","operations":[{"uri":"`+note+`","content":"not ann","mode":"upsert"}]}`)
	for _, body := range []string{`{"query":"tea in the morning"}`, `{"query":"brew"}`, `{"query":"plan"}`, `{"query":"tea","target_uri":"viking://"}`} {
		row("POST /api/v1/search/find", "", body)
		row("POST /api/v1/search/search", "", body)
	}
	row("POST /api/v1/search/search", "", `{"query":"tea in the morning","mode":"context","session_id":"s1"}`)
	row("POST /api/v1/search/recall", "", `{"query":"tea in the morning","session_id":"s1"}`)
	row("POST /api/v1/search/grep", "", `{"uri":"viking://","pattern":"tea|plan|brew"}`)
	row("POST /api/v1/search/glob", "", `{"uri":"viking://","pattern":"**/*"}`)
	row("POST /api/v1/pack/export", "", `{"uri":"viking://"}`)
	row("POST /api/v1/pack/backup", "", `{}`)
	row("POST /api/v1/pack/import", "", `{"temp_file_id":"upload_0123456789abcdef0123456789abcdef.zip","parent":"`+home+`"}`)
	row("POST /api/v1/pack/restore", "", `{"temp_file_id":"upload_0123456789abcdef0123456789abcdef.zip"}`)

	row("POST /api/v1/resources", "", `{"path":"../../etc/passwd","to":"`+home+`/resources/x"}`)
	row("POST /api/v1/resources", "", `{"temp_file_id":"upload_0123456789abcdef0123456789abcdef.md","to":"`+home+`/resources/x"}`)
	row("POST /api/v1/resources/temp_upload", "", "no multipart")
	row("GET /api/v1/watches", "?to_uri="+home+"/resources", "")
	row("PATCH /api/v1/watches", "?to_uri="+home+"/resources", `{"is_active":false}`)
	row("DELETE /api/v1/watches", "?to_uri="+home+"/resources", "")
	row("POST /api/v1/watches/trigger", "?to_uri="+home+"/resources", "")
	row("GET /api/v1/watches/{task}", "", "")
	row("PATCH /api/v1/watches/{task}", "", `{"is_active":false}`)
	row("DELETE /api/v1/watches/{task}", "", "")
	row("POST /api/v1/watches/{task}/trigger", "", "")

	const skills = "?target_uri=viking://user/ann/skills"
	row("GET /api/v1/skills", skills, "").refused = true
	row("GET /api/v1/skills", "", "")
	row("GET /api/v1/skills/{skill}", skills+"&include_content=true", "").refused = true
	row("GET /api/v1/skills/{skill}", "?include_content=true&include_files=true", "")
	row("DELETE /api/v1/skills/{skill}", skills, "").refused = true
	row("PUT /api/v1/skills/{skill}", skills, `{"data":"---\nname: brew\ndescription: d\n---\nx","target_uri":"viking://user/ann/skills"}`)
	row("POST /api/v1/skills", "", `{"data":"---\nname: brew\ndescription: d\n---\nx","target_uri":"viking://user/ann/skills"}`).refused = true
	row("POST /api/v1/skills/find", "", `{"query":"brew","target_uri":"viking://user/ann/skills"}`).refused = true
	row("POST /api/v1/skills/find", "", `{"query":"brew"}`)
	row("POST /api/v1/skills/validate", "", `{"data":"---\nname: brew\ndescription: d\n---\nx"}`)

	for _, method := range []string{"GET", "PUT", "DELETE", "PROPFIND", "MKCOL", "MOVE"} {
		row("/webdav/resources/", "%2e%2e%2fuser%2fann/notes/plan.md", "not ann").method = method
		row("/webdav/resources/", "docs/shared.md", "").method = "PROPFIND"
	}
	row("/webdav/resources", "", "").method = "PROPFIND"
}

func tryEngine(row rowOf, home, note, s1, job string) {
	for _, uri := range []string{home, note, s1, s1 + "/turns/1-9", s1 + "/history/archive_001", home + "/memories/profile.md"} {
		row("GET /engine/v1/ls", "?uri="+uri, "").refused = true
		row("GET /engine/v1/read", "?uri="+uri, "").refused = true
		row("GET /engine/v1/expand", "?uri="+uri, "").refused = true
		row("POST /engine/v1/forget", "", `{"what":"`+uri+`","purge":true}`).refused = true
	}
	row("POST /engine/v1/forget", "", `{"what":"tea in the morning","purge":true}`)
	row("GET /engine/v1/ls", "?depth=6", "")
	for _, p := range []string{"context", "explain", "turns", "turns/raw", "verify"} {
		row("GET /engine/v1/"+p, "?seq=1&session=e1", "")
		row("GET /engine/v1/"+p, "?seq=1&session=s1", "")
	}
	row("GET /engine/v1/find", "?query=tea+in+the+morning", "")
	row("GET /engine/v1/jobs", "?all=true", "")
	row("GET /engine/v1/sessions", "", "")
	row("GET /engine/v1/status", "", "")
	row("POST /engine/v1/jobs/cancel", "", `{"job":`+job+`}`)
	row("POST /engine/v1/jobs/retry", "", `{"job":`+job+`}`)
	row("POST /engine/v1/commit", "", `{"session":"s1"}`)
	row("POST /engine/v1/context", "", `{"session":"s1","prompt":"tea in the morning","budget":4000}`)
	row("POST /engine/v1/find", "", `{"query":"tea in the morning"}`)
	row("POST /engine/v1/sessions/delete", "", `{"session":"e1"}`)
	const session = `"session":{"session_id":"e1"},"identity":{"account":"acme","user":"ann","agent":"main"}`
	for p, body := range map[string]string{
		"bootstrap": `{` + session + `}`, "reconcile": `{` + session + `,"entries":[]}`,
		"commit_turn":       `{` + session + `,"advancement_key":"k2","messages":[{"message":{"role":"user","content":"not ann"}}]}`,
		"after_turn":        `{` + session + `,"messages":[{"message":{"role":"user","content":"not ann"}}],"pre_prompt_message_count":0}`,
		"ingest":            `{` + session + `,"messages":[{"message":{"role":"user","content":"not ann"}}]}`,
		"assemble":          `{` + session + `,"messages":[],"prompt":"tea in the morning","token_budget":20000}`,
		"compact":           `{` + session + `,"token_budget":20000,"force":true}`,
		"event":             `{` + session + `,"kind":"session_end"}`,
		"subagent_prepare":  `{` + session + `,"child_session_key":"agent:main:subagent:1"}`,
		"subagent_rollback": `{` + session + `,"child_session_key":"agent:main:subagent:1"}`,
		"subagent_ended":    `{` + session + `,"child_session_key":"agent:main:subagent:1"}`,
		"command":           `{` + session + `,"name":"status","args":""}`,
	} {
		row("POST /engine/v1/"+p, "", body)
	}
	for _, tool := range []string{
		`"name":"memory_recall","input":{"query":"tea in the morning"}`, `"name":"memory_expand","input":{"uri":"` + s1 + `/turns/1-9"}`,
		`"name":"memory_forget","input":{"uri":"` + home + `/memories/profile.md"}`, `"name":"memory_store","input":{"text":"not ann"}`,
	} {
		row("POST /engine/v1/tool", "", `{`+session+`,`+tool+`}`)
	}
	for _, call := range []string{
		`"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`, `"tools/list"`, `"resources/list"`,
		`"tools/call","params":{"name":"memory_recall","arguments":{"query":"tea in the morning"}}`,
		`"tools/call","params":{"name":"memory_expand","arguments":{"uri":"` + s1 + `/turns/1-9"}}`,
		`"tools/call","params":{"name":"read","arguments":{"uri":"` + note + `"}}`,
		`"resources/read","params":{"uri":"` + note + `"}`,
	} {
		row("/mcp", "", `{"jsonrpc":"2.0","id":1,"method":`+call+`}`).method = "POST"
	}
}

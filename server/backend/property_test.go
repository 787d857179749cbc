package backend_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is what a session must count.
type model struct {
	live, total, commits, used, skills int
}

// Random operations on a few sessions keep every count right: what is open, what there is in all, commits, uses; and what can be read is
// what was said, in order, however often it was archived, failed, retried or deleted in between.
func TestCountsUnderRandomOperations(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // 100 take a minute with the race detector
		if err := f.Value.Set("20"); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		d := start(t)
		m := map[string]*model{}
		said := 0
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		of := func(s string) *model {
			if m[s] == nil {
				m[s] = &model{}
			}
			return m[s]
		}
		path := func(s, rest string) string { return "/api/v1/sessions/" + s + rest }
		r.Repeat(map[string]func(*rapid.T){
			"say": func(r *rapid.T) {
				s := name.Draw(r, "session")
				x := of(s)
				said++
				got := d.say(s, [2]string{"user", "assistant"}[said%2], fmt.Sprintf("statement %d about lighthouse %d", said, said*7))
				x.live, x.total = x.live+1, x.total+1
				d.same("live", got["message_count"], x.live)
			},
			"tool": func(r *rapid.T) {
				s := name.Draw(r, "session")
				x := of(s)
				got := d.post(path(s, "/messages"), tool("one", "two"))
				x.live, x.total = x.live+1, x.total+1
				d.same("live", got["message_count"], x.live)
			},
			"batch": func(r *rapid.T) {
				s, n := name.Draw(r, "session"), rapid.IntRange(0, 5).Draw(r, "n")
				body := ""
				for i := range n {
					said++
					body += fmt.Sprintf(`{"role":"user","content":"item %d of a batch, number %d"},`, i, said)
				}
				body = `{"messages":[` + body[:max(0, len(body)-1)] + `]}`
				x := of(s)
				x.live, x.total = x.live+n, x.total+n
				got := d.post(path(s, "/messages/batch"), body)
				d.same("batch", []any{got["message_count"], got["added"]}, []any{x.live, n})
			},
			"commit": func(r *rapid.T) {
				s, keep := name.Draw(r, "session"), rapid.IntRange(0, 3).Draw(r, "keep")
				if m[s] == nil {
					d.fails(404, "POST", path(s, "/commit"), "")
					return
				}
				x, got := m[s], d.commit(s, fmt.Sprintf(`{"keep_recent_count":%d}`, keep))
				if got["archived"] != true {
					d.same("why", got["reason"] == "no_messages", x.live == 0)
					return
				}
				x.commits++
				left := int(d.get(path(s, ""))["message_count"].(float64))
				if left < min(keep, x.live) && keep < x.live || left >= x.live {
					r.Errorf("kept %d of %d, asked for %d", left, x.live, keep)
				}
				x.live = left
			},
			"cancel": func(r *rapid.T) {
				for _, task := range d.tasks("?status=pending") {
					d.post("/api/v1/tasks/"+task["task_id"].(string)+"/cancel", "")
				}
			},
			"retry": func(r *rapid.T) {
				s := name.Draw(r, "session")
				code, _ := d.call("POST", path(s, "/archives/archive_001/retry"), "")
				if x := m[s]; (x == nil || x.commits == 0) != (code == 404) || code >= 500 {
					r.Errorf("retry: %d", code)
				}
			},
			"jobs": func(*rapid.T) { d.jobs() },
			"used": func(r *rapid.T) {
				s, n := name.Draw(r, "session"), rapid.IntRange(0, 3).Draw(r, "n")
				if m[s] == nil {
					return
				}
				uris := ""
				for range n {
					uris += `"viking://user/ann/memories/x.md",`
				}
				got := d.post(path(s, "/used"), `{"contexts":[`+uris[:max(0, len(uris)-1)]+`],"skill":{"uri":"x"}}`)
				m[s].used, m[s].skills = m[s].used+n, m[s].skills+1
				d.same("used", []any{got["contexts_used"], got["skills_used"]}, []any{m[s].used, m[s].skills})
			},
			"time": func(r *rapid.T) { d.later(time.Duration(rapid.IntRange(1, 3600).Draw(r, "seconds")) * time.Second) },
			"delete": func(r *rapid.T) {
				s := name.Draw(r, "session")
				if m[s] == nil {
					d.fails(404, "DELETE", path(s, ""), "")
					return
				}
				ask[object](d, "DELETE", path(s, ""), "")
				delete(m, s)
			},
			"": func(r *rapid.T) {
				d.same("sessions", len(ask[[]any](d, "GET", "/api/v1/sessions", "")), len(m))
				for s, x := range m {
					got := d.get(path(s, ""))
					d.same(s, []any{got["message_count"], got["total_message_count"], got["commit_count"], got["contexts_used"], got["skills_used"]},
						[]any{x.live, x.total, x.commits, x.used, x.skills})
					stats := d.context(s, "")["stats"].(map[string]any)
					d.same(s+" archives", stats["totalArchives"], x.commits)
					archived := 0
					for i := 1; i <= x.commits; i++ {
						archived += d.get(fmt.Sprintf("%s/archive_%03d", path(s, "/archives"), i)).count()
					}
					d.same(s+" archived", archived, x.total-x.live)
				}
			},
		})
	})
}

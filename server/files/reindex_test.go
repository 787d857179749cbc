package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

func TestReindex(t *testing.T) {
	t.Parallel()
	d := start(t)
	library(d)
	d.write("viking://~/memories/preferences/tea.md", "I like tea")
	const heron = "viking://resources/birds/heron.md"
	if err := d.store.Update(context.Background(), func(tx skald.Tx) error { // as if a part of the index were lost
		return tx.DeleteURIDocs(skald.Scope{Account: "acme", Kind: skald.ScopeResources}, heron)
	}); err != nil {
		t.Fatal(err)
	}
	d.same("lost", d.found("dawn", heron), false)
	reindex := func(body object) object { d.Helper(); return d.post("/api/v1/content/reindex", body) }
	done := reindex(object{"uri": "viking://resources/birds"})
	d.same("answer", []any{done["status"], done["object_type"], done["mode"], done["scanned_records"], done["rebuilt_records"]},
		[]any{"completed", "resource", "vectors_only", 6.0, 6.0})
	d.same("again", d.found("dawn", heron), true)
	d.same("one file", reindex(object{"uri": heron})["rebuilt_records"], 1)
	d.same("flat", reindex(object{"uri": "viking://resources/birds", "recursive": false})["rebuilt_records"], 1)
	d.same("memories", reindex(object{"uri": "viking://~/memories"})["object_type"], "memory")
	d.same("everything", reindex(object{"uri": "viking://", "mode": "semantic_and_vectors"})["object_type"], "global_namespace")
	d.same("prune", reindex(object{"uri": "viking://resources", "mode": "prune_orphans", "dry_run": true})["would_delete_records"], 0)
	reindex(object{"uri": heron, "tags": []string{"a=b"}})
	d.same("tags", ask[object](d, "GET", "/api/v1/fs/attrs?uri="+heron, "")["attrs"], object{"tags": []any{"a=b"}})
	d.fails(404, "NOT_FOUND", "POST", "/api/v1/content/reindex", `{"uri":"viking://resources/none"}`)
	d.fails(404, "NOT_FOUND", "POST", "/api/v1/content/reindex", `{"uri":"viking://resources/none","wait":false}`)
	d.fails(400, "UNSUPPORTED_MODE", "POST", "/api/v1/content/reindex", `{"uri":"viking://resources","mode":"all"}`)
	d.fails(400, "", "POST", "/api/v1/content/reindex", `{"uri":"viking://resources","tag_mode":"x"}`)
	d.fails(400, "", "POST", "/api/v1/content/reindex", `{}`)

	task := reindex(object{"uri": "viking://resources", "wait": false})
	d.same("accepted", task["status"], "accepted")
	if err := d.engine.RunJobs(context.Background()); err != nil {
		t.Fatal(err)
	}
	result := ask[object](d, "GET", "/api/v1/tasks/"+task["task_id"].(string), "")
	d.same("task", []any{result["task_type"], result["status"], result["result"].(object)["rebuilt_records"]}, []any{"admin_reindex",
		"completed", 7.0})
	d.as("key-bob").fails(404, "NOT_FOUND", "GET", "/api/v1/tasks/"+task["task_id"].(string), "")
}

// A reindexing that was cut off goes on behind the last page that was done.
func TestReindexResumes(t *testing.T) {
	t.Parallel()
	d := start(t)
	for i := range 250 {
		d.write(fmt.Sprintf("viking://resources/many/%03d.md", i), fmt.Sprint("number ", i))
	}
	ctx := context.Background()
	if _, _, err := d.files.ReindexLater(ctx, ann, api.ReindexQuery{URI: "viking://resources/many", Mode: api.ReindexVectors,
		Recursive: true}); err != nil {
		t.Fatal(err)
	}
	var j skald.Job
	if err := d.store.View(ctx, func(tx skald.Tx) error {
		list, err := tx.Jobs(nil, 0)
		j = list[len(list)-1]
		return err
	}); err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	pages := 0
	_, err := d.files.Worker().Work(ctx, j, func(n skald.JobNote) error {
		b, err := json.Marshal(n)
		if j.Result = string(b); pages == 1 {
			return killed
		}
		pages++
		return err
	})
	if !errors.Is(err, killed) {
		t.Fatal(err)
	}
	pages = 0
	n, err := d.files.Worker().Work(ctx, j, func(skald.JobNote) error { pages++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	var found api.Reindexed
	if err := json.Unmarshal(n.Result, &found); err != nil {
		t.Fatal(err)
	}
	if pages != 1 || found.Rebuilt != 251 {
		t.Errorf("%d pages after the restart, %d records in all", pages, found.Rebuilt)
	}
}

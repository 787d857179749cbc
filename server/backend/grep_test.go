package backend_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	skald "github.com/skald-engine/skald"
)

type grepped struct {
	Matches []skaldMatch `json:"matches"`
	Count   int          `json:"count"`
	Files   int          `json:"files_scanned"`
}

type skaldMatch struct {
	URI     string `json:"uri"`
	Line    int    `json:"line"`
	Content string `json:"content"`
}

func (d daemon) grep(body string) grepped {
	d.Helper()
	return ask[grepped](d, "POST", "/api/v1/search/grep", body)
}

func TestGrep(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.remember(ann, "The Quokka is the mascot of team seven.", "entities")
	d.say("s", "user", "We decided to print the Quokka on the shirts.\nIn green.")
	d.say("s", "assistant", "Done.")
	d.commit("s", "")
	d.jobs()
	d.say("s", "user", "one more quokka")
	uris := func(g grepped) string {
		var out []string
		for _, m := range g.Matches {
			out = append(out, fmt.Sprintf("%s:%d", m.URI, m.Line))
		}
		return strings.Join(out, "\n")
	}
	all := uris(d.grep(`{"uri":"viking://","pattern":"quokka","case_insensitive":true}`))
	d.has("all", all, "/memories/entities/", "/history/archive_001/.overview.md:", "/history/archive_001/messages.jsonl:1",
		"/sessions/s/messages.jsonl:3")
	d.same("case", uris(d.grep(`{"uri":"viking://","pattern":"quokka"}`)), "viking://user/ann/sessions/s/messages.jsonl:3")
	archives := `{"uri":"viking://~/sessions/s/history","pattern":"[Qq]uokka"%s}`
	d.lacks("history", uris(d.grep(fmt.Sprintf(archives, ""))), "memories", "s/messages.jsonl")
	d.lacks("without", uris(d.grep(fmt.Sprintf(archives, `,"exclude_uri":"viking://session/s/history/archive_001"`))), "archive")
	d.same("depth", d.grep(fmt.Sprintf(archives, `,"level_limit":1`)).Files, 0)
	d.same("one file", d.grep(`{"uri":"viking://session/s/history/archive_001/messages.jsonl","pattern":"green"}`).Matches,
		[]skaldMatch{{"viking://user/ann/sessions/s/history/archive_001/messages.jsonl", 1, "In green."}})
	d.fails(404, "POST", "/api/v1/search/grep", `{"uri":"viking://session/none","pattern":"x"}`)
	d.fails(403, "POST", "/api/v1/search/grep", `{"uri":"viking://user/bob","pattern":"x"}`)
	d.fails(400, "POST", "/api/v1/search/grep", `{"uri":"viking://","pattern":"("}`)
}

// SRC-05: no limit but the caller's own.
func TestGrepReachesTheLastFile(t *testing.T) {
	t.Parallel()
	d := start(t)
	scope := skald.Policy{}.UserScope(ann)
	err := d.store.Update(context.Background(), func(tx skald.Tx) error {
		for i := range 1001 {
			m := skald.Memory{URI: scope.RootURI().Join("memories", "entities", fmt.Sprintf("n%04d.md", i)), Scope: scope,
				Type: skald.MemoryEntity, Text: fmt.Sprintf("- number %d", i)}
			if i == 1000 {
				m.Text = "- quokka"
			}
			if err := tx.PutMemory(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	g := d.grep(`{"uri":"viking://user/memories","pattern":"quokka"}`)
	d.same("hits", []int{g.Count, g.Files}, []int{1, 1001})
	g = d.grep(`{"uri":"viking://user/memories","pattern":"number","node_limit":5}`)
	d.same("limited", []int{g.Count, g.Files}, []int{5, 5})
}

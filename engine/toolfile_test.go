package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
)

// put stores a file of the user's tree.
func (h *host) put(uri, body string) {
	h.t.Helper()
	h.must(h.store.Update(context.Background(), func(tx skald.Tx) error {
		scope, err := tree.ScopeOf(h.e.Policy(), h.identity(), skald.URI(uri))
		if err != nil {
			return err
		}
		return tree.Put(tx, skald.File{Scope: scope, URI: skald.URI(uri), Body: []byte(body), Modified: *h.now})
	}))
}

func library(t *testing.T) *host {
	h := newHost(t)
	h.put("viking://resources/harbour/tides.md", "# Tides\n\nThe spring tide at Ostend rises to 4.7 metres.\n")
	h.put("viking://resources/harbour/log.bin", "\x00\x01\xff")
	h.put("viking://user/default/skills/mooring/SKILL.md", "---\nname: mooring\ndescription: Moors a barge at the quay\n---\n\nThrow the bow line first.\n")
	h.put("viking://user/default/skills/mooring/knots.md", "A bowline holds.")
	return h
}

// TestToolSearchFiles finds resources and skills by their words, each once, and reads them by the URI that was found.
func TestToolSearchFiles(t *testing.T) {
	t.Parallel()
	h := library(t)
	h.say("the spring tide is high at Ostend", "noted")
	found := h.tool("ov_search", map[string]any{"query": "spring tide at Ostend"})
	contains(t, found.Text, "viking://resources/harbour/tides.md")
	lacks(t, found.Text, "sessions") // what was said is not a resource
	contains(t, h.tool("ov_search", map[string]any{"query": "how to moor a barge"}).Text, "viking://user/default/skills/mooring/SKILL.md")
	contains(t, h.tool("ov_search", map[string]any{"query": "bowline", "uri": "viking://~/skills"}).Text, "knots.md")
	if a := h.tool("ov_search", map[string]any{"query": "zeppelin"}); a.Text != "Nothing found." || a.IsError {
		t.Errorf("%+v", a)
	}
	if a := h.tool("ov_search", map[string]any{"query": " "}); !a.IsError {
		t.Errorf("%+v", a)
	}
	for _, tool := range []string{"ov_read", "memory_expand"} {
		contains(t, h.tool(tool, map[string]any{"uri": "viking://resources/harbour/tides.md"}).Text, "rises to 4.7 metres")
	}
}

// TestToolReadFolder reads a skill's folder as its SKILL.md and names its files, also by the URI of its abstract.
func TestToolReadFolder(t *testing.T) {
	t.Parallel()
	h := library(t)
	for _, uri := range []string{"viking://~/skills/mooring", "viking://user/skills/mooring", "viking://user/default/skills/mooring/.abstract.md"} {
		a := h.tool("memory_expand", map[string]any{"uri": uri})
		contains(t, a.Text, "Throw the bow line first")
		contains(t, a.Text, "viking://user/default/skills/mooring/knots.md")
	}
	contains(t, h.tool("ov_read", map[string]any{"uri": "viking://resources/harbour"}).Text, "tides.md")
	contains(t, h.tool("ov_read", map[string]any{"uri": "viking://resources/harbour/log.bin"}).Text, "3 bytes that are no text")
	for _, uri := range []string{"viking://resources/none.md", "viking://resources/har…", "viking://resources/har...", "viking://user/eve/skills/x", "file:///etc/passwd", ""} {
		if a := h.tool("ov_read", map[string]any{"uri": uri}); !a.IsError {
			t.Errorf("%q: %s", uri, a.Text)
		}
	}
	x, err := h.e.Expand(context.Background(), h.identity(), "viking://~/skills/mooring", "", 0)
	if err != nil || len(x.Turns) != 1 || !strings.Contains(x.Turns[0].Text, "bow line") {
		t.Errorf("%v: %+v", err, x)
	}
}

// TestToolReadPages reads a long file to its end, in pages that lose nothing.
func TestToolReadPages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var want strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&want, "Zeile %d äöü\n", i)
	}
	h.put("viking://resources/long.txt", want.String())
	var got strings.Builder
	for offset := 0; ; {
		a := h.tool("ov_read", map[string]any{"uri": "viking://resources/long.txt", "offset": offset})
		_, rest, _ := strings.Cut(a.Text, "\n\n")
		body, more, cut := strings.Cut(rest, "\n\n(cut; call again with offset ")
		if !cut {
			got.WriteString(strings.TrimSuffix(rest, "\n"))
			break
		}
		got.WriteString(body)
		if _, err := fmt.Sscanf(more, "%d", &offset); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want.String() {
		t.Errorf("%d bytes of %d", got.Len(), want.Len())
	}
	contains(t, h.tool("memory_expand", map[string]any{"uri": "viking://resources/long.txt", "query": "2750"}).Text, "Zeile 2750 ")
}

// TestToolList lists folders and reads several files at once.
func TestToolList(t *testing.T) {
	t.Parallel()
	h := library(t)
	a := h.tool("ov_list", map[string]any{"uri": "viking://resources/harbour"})
	contains(t, a.Text, "[file] viking://resources/harbour/tides.md - Tides")
	contains(t, h.tool("ov_list", map[string]any{"uri": "viking://~/skills", "recursive": true, "simple": true}).Text, "[file] viking://user/default/skills/mooring/knots.md")
	contains(t, h.tool("ov_list", map[string]any{"uri": "viking://resources/harbour", "limit": 1}).Text, "(more:")
	if a := h.tool("ov_list", map[string]any{"uri": "viking://resources/harbour/tides.md"}); !a.IsError {
		t.Errorf("%+v", a)
	}
	many := h.tool("ov_multi_read", map[string]any{"uris": []string{"viking://resources/harbour/tides.md", "viking://resources/none"}})
	contains(t, many.Text, "rises to 4.7 metres")
	contains(t, many.Text, "could not be read")
}

// TestToolFilesInGroup gives a group the account's resources and skills, and nothing that was said to the owner (I9).
func TestToolFilesInGroup(t *testing.T) {
	t.Parallel()
	h := library(t)
	h.tool("memory_store", map[string]any{"text": "The salary is 5000 doubloons.", "type": "profile"})
	h.say("my salary is 5000 doubloons", "noted")
	group := h.session("agent:main:telegram:group:42")
	contains(t, group.tool("ov_read", map[string]any{"uri": "viking://resources/harbour/tides.md"}).Text, "4.7 metres")
	for _, uri := range []string{"viking://~/memories/profile.md", "viking://~/memories", string(h.ref().URI()), string(h.ref().URI().Join("messages.jsonl")), "viking://~", "viking://"} {
		for _, tool := range []string{"ov_read", "ov_list", "memory_expand"} {
			a := group.tool(tool, map[string]any{"uri": uri})
			if lacks(t, a.Text, "doubloons"); !a.IsError {
				t.Errorf("%s %s: %s", tool, uri, a.Text)
			}
		}
	}
	lacks(t, group.tool("ov_search", map[string]any{"query": "salary doubloons", "uri": "viking://~"}).Text, "doubloons.")
}

// TestToolTrace tells what was recalled before the newest prompt.
func TestToolTrace(t *testing.T) {
	t.Parallel()
	h := library(t)
	contains(t, h.tool("ov_recall_trace", map[string]any{}).Text, "Nothing was recalled")
	h.say("hello there, good people of the harbour office", "hello")
	h.assemble("how high is the spring tide at Ostend?")
	a := h.tool("ov_recall_trace", map[string]any{"includeContent": true})
	contains(t, a.Text, "viking://resources/harbour/tides.md")
	contains(t, a.Text, "4.7 metres")
	if a := h.tool("ov_recall_trace", map[string]any{"turn": "yesterday"}); !a.IsError {
		t.Errorf("%+v", a)
	}
	if all := h.tool("ov_recall_trace", map[string]any{"turn": "all"}); strings.Count(all.Text, " shown, ") < 2 {
		t.Errorf("%s", all.Text)
	}
}

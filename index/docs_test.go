package index_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
)

var (
	ref = skald.SessionRef{Scope: skald.Scope{Account: "a", Kind: skald.ScopeUser, User: "u"}, ID: "s"}
	day = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
)

func docsOf(t *testing.T, turn skald.Turn, text string) []skald.Doc {
	t.Helper()
	m, err := message.Parse(message.User(text, 1))
	if err != nil {
		t.Fatal(err)
	}
	return index.DocsOfTurn(ref, turn, m)
}

func TestDocsOfTurn(t *testing.T) {
	text := strings.Repeat("One sentence about the harbour and its ships. ", 60)
	docs := docsOf(t, skald.Turn{Seq: 4, Time: day, Role: skald.RoleUser, Speaker: "Ann"}, text)
	if len(docs) < 3 {
		t.Fatalf("%d passages", len(docs))
	}
	for _, d := range docs {
		if d.Seq != 4 || d.Session != "s" || d.Length != len(d.Terms) || d.Terms[len(d.Terms)-1] != "ann" || d.End > len(text) {
			t.Errorf("%+v", d)
		}
	}
	if n := len(docsOf(t, skald.Turn{Seq: 5}, strings.Repeat("Words and more words here. ", 20_000))); n != index.MaxPassages {
		t.Errorf("a huge turn has %d passages", n)
	}
}

func TestNoDocs(t *testing.T) {
	for name, turn := range map[string]skald.Turn{"heartbeat": {Purpose: skald.PurposeHeartbeat}, "internal": {Purpose: skald.PurposeInternal},
		"forgotten": {Forgotten: true}, "purged": {Purged: true}} {
		if docs := docsOf(t, turn, "some text"); docs != nil {
			t.Errorf("%s: %d documents", name, len(docs))
		}
	}
	if docs := docsOf(t, skald.Turn{}, "  "); docs != nil {
		t.Error("a blank turn has documents")
	}
	blob := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00\x91binary", 800)))
	docs := docsOf(t, skald.Turn{}, "Here is the file:\n"+blob)
	for _, d := range docs {
		if d.Start > 100 {
			t.Errorf("binary data is indexed: %d..%d", d.Start, d.End)
		}
	}
}

func TestDocsOfArchive(t *testing.T) {
	a := skald.Archive{Session: ref, Index: 2, Overview: []skald.Section{
		{Title: "Facts", Lines: []skald.Line{{Text: "The ferry  leaves at nine", Time: day, Speaker: "user", From: 1, To: 2}}},
		{Title: "Tasks", Lines: []skald.Line{{Text: "Buy tickets", Time: day, From: 3, To: 3}}},
	}}
	docs := index.DocsOfArchive(a, skald.AudienceDirect)
	text := index.ArchiveText(a)
	want := []string{"user: The ferry leaves at nine", "Buy tickets"}
	if len(docs) != 2 {
		t.Fatalf("%d documents", len(docs))
	}
	for i, d := range docs {
		if got := text[d.Start:d.End]; got != want[i] || d.Seq != 2 || d.Kind != skald.DocArchive {
			t.Errorf("%q, %+v", got, d)
		}
		if l, ok := index.ArchiveLine(a, d); !ok || l.From != a.Overview[i].Lines[0].From {
			t.Errorf("line %+v", l)
		}
	}
}

func TestDocsOfMemory(t *testing.T) {
	m := skald.Memory{Scope: ref.Scope, URI: "viking://user/u/memories/entities/x.md", Type: skald.MemoryEntity, Text: "Likes tea", Updated: day,
		Sources: []skald.MemorySource{{Session: ref, From: 7, To: 8}}, Session: "s"}
	docs := index.DocsOfMemory(m)
	if len(docs) != 1 || docs[0].URI != m.URI || docs[0].Seq != 7 || docs[0].Kind != skald.DocMemory {
		t.Errorf("%+v", docs)
	}
}

package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
	store "github.com/skald-engine/skald/store/memory"
)

var (
	scopes = memory.ScopesOf(skald.Policy{}, skald.DefaultIdentity)
	ref    = skald.SessionRef{Scope: scopes.User, ID: "s1"}
	monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// said makes owner turns of one sentence or more each, a minute apart.
func said(at time.Time, texts ...string) []archive.Turn {
	out := make([]archive.Turn, len(texts))
	for i, s := range texts {
		out[i] = archive.Turn{Seq: int64(i + 1), Time: at.Add(time.Duration(i) * time.Minute), Role: skald.RoleUser,
			Origin: skald.OriginOwner, Audience: skald.AudienceDirect, Text: s}
	}
	return out
}

// extract runs the builtin extractor on turns, each list as an archive of its own, and returns all memories.
func extract(t *testing.T, archives ...[]archive.Turn) []skald.Memory {
	t.Helper()
	s := store.New()
	t.Cleanup(func() { s.Close() })
	seq := int64(0)
	err := s.Update(context.Background(), func(tx skald.Tx) error {
		for i, turns := range archives {
			for j := range turns {
				seq++
				turns[j].Seq = seq
			}
			a := skald.Archive{Session: ref, Index: i + 1}
			_, diff, err := memory.Builtin{}.Extract(context.Background(), tx, ref, "main", a, turns, monday.AddDate(1, 0, 0))
			if err != nil {
				return err
			}
			if !json.Valid(diff) {
				return fmt.Errorf("diff is not JSON: %s", diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all(t, s)
}

func all(t *testing.T, s skald.Store) (out []skald.Memory) {
	t.Helper()
	err := s.View(context.Background(), func(tx skald.Tx) (err error) {
		out, err = tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scopes.User, scopes.Agent}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// split parts the texts of valid memories from those that are over.
func split(list []skald.Memory) (current, past string) {
	for _, m := range list {
		if m.Superseded == "" && m.ValidTo.IsZero() {
			current += m.Text + "\n"
		} else {
			past += m.Text + "\n"
		}
	}
	return current, past
}

func dump(list []skald.Memory) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s %q superseded=%q to=%s\n", m.URI, m.Text, m.Superseded, m.ValidTo)
	}
	return b.String()
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		text string
		want skald.MemoryType
	}{
		{"My name is Ada Berg.", skald.MemoryProfile},
		{"I am allergic to nuts.", skald.MemoryProfile},
		{"I live in Turku.", skald.MemoryProfile},
		{"I'm a nurse at the county hospital.", skald.MemoryProfile},
		{"I prefer short answers.", skald.MemoryPreference},
		{"Always answer in French.", skald.MemoryPreference},
		{"Never use force push in this repo.", skald.MemoryPattern},
		{"Remember that the spare key is under the pot.", skald.MemoryEntity},
		{"Boris is my neighbour and feeds the cat.", skald.MemoryEntity},
		{"My sister studies law.", skald.MemoryEntity},
		{"I went to the support group yesterday.", skald.MemoryEvent},
		{"We decided to use SQLite because it is one file.", skald.MemoryEvent},
		{"我叫李雷。", skald.MemoryProfile},
		{"我住在杭州。", skald.MemoryProfile},
		{"我不吃香菜。", skald.MemoryPreference},
		{"我喜欢看表格。", skald.MemoryPreference},
		{"以后回答短一点。", skald.MemoryPreference},
		{"妈妈对花粉过敏。", skald.MemoryEntity},
		{"记住备用钥匙在花盆下面。", skald.MemoryEntity},
		{"昨天去了牙医那里。", skald.MemoryEvent},
		{"决定用三月的方案。", skald.MemoryEvent},
		{"What is my name?", ""},
		{"我叫什么名字？", ""},
		{"Thanks a lot!", ""},
		{"Please run the tests.", ""},
		{"ok", ""},
	} {
		got := memory.Candidates(ref, said(monday, c.text))
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%q became %s", c.text, got[0].Type)
		case c.want != "" && (len(got) != 1 || got[0].Type != c.want):
			t.Errorf("%q: got %+v, want %s", c.text, got, c.want)
		}
	}
}

func TestMEM01BatchSeesItself(t *testing.T) {
	list := extract(t, said(monday,
		"Remember that the Acme team has five engineers in Oslo.",
		"Remember that the Acme prices start at 10 dollars.",
		"Remember that the Acme plans are called Basic and Gold.",
		"Remember that the Acme team has five engineers in Oslo, as said."))
	if len(list) == 0 || len(list) > 3 {
		t.Errorf("want at most three distinct memories, got %d:\n%s", len(list), dump(list))
	}
	current, _ := split(list)
	if n := strings.Count(current, "engineers"); n != 1 {
		t.Errorf("the team is told %d times:\n%s", n, dump(list))
	}
}

func TestMEM04OnlyTheOwnersWords(t *testing.T) {
	turns := said(monday, "You are Bot-1. Always be concise. The repo is at /srv/x.", "I am Bot-1; I always am concise and I live in /srv/x.",
		"Cron: my name is backup, remember the nightly dump.", "My name is Mallory. I prefer root access.", "I am allergic to nuts")
	turns[0].Role, turns[0].Origin = skald.RoleSystem, skald.OriginSystem
	turns[1].Role, turns[1].Origin = skald.RoleAssistant, skald.OriginAgent
	turns[2].Purpose = skald.PurposeCron
	turns[3].Origin = skald.OriginPerson
	list := extract(t, turns)
	if len(list) != 1 || !strings.Contains(list[0].Text, "allergic to nuts") {
		t.Errorf("want the allergy alone:\n%s", dump(list))
	}
}

func TestMEM05LanguageOfTheUser(t *testing.T) {
	list := extract(t, said(monday, "我喜欢用 Kubernetes 部署 спасибо 项目。"))
	if len(list) != 1 || list[0].Lang != "zh" {
		t.Errorf("want one Chinese memory:\n%s", dump(list))
	}
	list = extract(t, said(monday, "I prefer tea with 李雷 in the afternoon."))
	if len(list) != 1 || list[0].Lang != "en" || !strings.Contains(list[0].Text, "李雷") {
		t.Errorf("want one English memory:\n%s", dump(list))
	}
}

func TestMEM07ChangeInTime(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 5, 1, 0, 0, 0, 0, time.UTC) }
	list := extract(t, said(year(2023), "Nadia lives in Lund.", "Nadia works at Acme."),
		said(year(2024), "Nadia moved from Lund to Turku."), said(year(2025), "In 2019 Nadia lived in Graz."))
	current, past := split(list)
	for _, w := range []string{"to Turku", "Acme"} {
		if !strings.Contains(current, w) {
			t.Errorf("%q is not current", w)
		}
	}
	for _, w := range []string{"lives in Lund", "Graz"} {
		if !strings.Contains(past, w) || strings.Contains(current, w) {
			t.Errorf("%q is not past", w)
		}
	}
	for _, m := range list {
		if strings.Contains(m.Text, "lives in Lund") && (m.ValidTo.Year() != 2024 || m.Superseded == "") {
			t.Errorf("Lund until %v, superseded by %q", m.ValidTo, m.Superseded)
		}
		if strings.Contains(m.Text, "Graz") && m.ValidFrom.Year() != 2019 {
			t.Errorf("Graz from %v", m.ValidFrom)
		}
	}
	if t.Failed() {
		t.Log(dump(list))
	}
}

func TestMEM07Changes(t *testing.T) {
	for _, c := range []struct{ first, other, then, gone string }{
		{"I live in Lund.", "I prefer tea.", "I moved to Turku.", "Lund"},
		{"I prefer tabs for indentation.", "I prefer dark mode.", "I no longer prefer tabs for indentation.", "I prefer tabs"},
		{"I like black coffee.", "I like jazz.", "I hate black coffee.", "I like black coffee"},
		{"我住在杭州。", "我喜欢喝茶。", "我搬到上海了。", "杭州"},
		{"我喜欢喝咖啡。", "我喜欢看电影。", "我不再喜欢喝咖啡了。", "我喜欢喝咖啡"},
		{"决定用蓝色主题。", "决定周五发布版本。", "主题改成绿色，不用蓝色主题了。", "决定用蓝色主题"},
	} {
		list := extract(t, said(monday, c.first, c.other), said(monday.AddDate(0, 1, 0), c.then))
		current, past := split(list)
		if strings.Contains(current, c.gone) || !strings.Contains(past, c.gone) {
			t.Errorf("%q should have ended %q:\n%s", c.then, c.first, dump(list))
		}
		if !strings.Contains(current, strings.TrimRight(c.other, ".。")) {
			t.Errorf("%q should not have ended %q:\n%s", c.then, c.other, dump(list))
		}
	}
}

func TestMEM08EventsHaveTheirDay(t *testing.T) {
	for _, c := range []struct{ at, text, day string }{
		{"2023-05-08", "I went to the support group yesterday", "2023-05-07"},
		{"2026-03-02", "I met the landlord last Friday.", "2026-02-27"},
		{"2026-03-02", "I handed in the thesis two weeks ago.", "2026-02-16"},
		{"2026-03-02", "The release is on 12 March.", "2026-03-12"},
		{"2026-03-02", "The move happened on January 5, 2025.", "2025-01-05"},
		{"2026-03-02", "周四交了房租。", "2026-03-05"},
		{"2026-03-02", "6月1日打疫苗。", "2026-06-01"},
		{"2026-03-02", "上周三去了北京。", "2026-02-25"},
		{"2026-03-02", "昨天看了电影。", "2026-03-01"},
		{"2026-01-02", "12月30日办了签证。", "2025-12-30"},
	} {
		at, _ := time.Parse(time.DateOnly, c.at)
		list := extract(t, said(at.Add(20*time.Hour), c.text))
		if len(list) != 1 || list[0].ValidFrom.Format(time.DateOnly) != c.day || !strings.Contains(string(list[0].URI), "/events/"+c.day) {
			t.Errorf("%q: want %s:\n%s", c.text, c.day, dump(list))
		}
	}
}

func TestMEM09OneListOfPeople(t *testing.T) {
	list := extract(t, said(monday, "My colleagues are Ann, Bob and Cid.", "Nice weather, isn't it!"), said(monday.AddDate(0, 0, 1), "Colleagues: Ann, Bob, Cid, Dan"),
		said(monday.AddDate(0, 0, 2), "Eve joined us."), said(monday.AddDate(0, 0, 3), "My colleagues are Ann, Bob and Cid."))
	if len(list) != 1 {
		t.Fatalf("want one record:\n%s", dump(list))
	}
	for _, n := range []string{"Ann", "Bob", "Cid", "Dan", "Eve"} {
		if !strings.Contains(list[0].Text, n) {
			t.Errorf("%s is lost: %s", n, list[0].Text)
		}
	}
	if len(list[0].Sources) != 4 {
		t.Errorf("sources %v", list[0].Sources)
	}
}

func TestCaseFromErrorAndFix(t *testing.T) {
	turns := []archive.Turn{
		{Role: skald.RoleUser, Origin: skald.OriginOwner, Text: "run it"},
		{Role: skald.RoleAssistant, Origin: skald.OriginAgent, ToolCalls: []archive.ToolCall{{Name: "bash", Arguments: `{"command":"run"}`}}},
		{Role: skald.RoleTool, Origin: skald.OriginTool, ToolName: "bash", IsError: true, Text: "error: run: not found"},
		{Role: skald.RoleAssistant, Origin: skald.OriginAgent, ToolCalls: []archive.ToolCall{{Name: "bash", Arguments: `{"command":"./run"}`}}},
		{Role: skald.RoleTool, Origin: skald.OriginTool, ToolName: "bash", Text: "fine"},
	}
	list := extract(t, turns)
	if len(list) != 1 || list[0].Type != skald.MemoryCase || list[0].Scope != scopes.Agent || !strings.Contains(list[0].Text, "./run") {
		t.Errorf("want one case of the agent:\n%s", dump(list))
	}
}

func TestStoreTwiceGivesOne(t *testing.T) {
	s := store.New()
	defer s.Close()
	for range 2 {
		err := s.Update(context.Background(), func(tx skald.Tx) error {
			m, err := memory.Store(tx, scopes, memory.Note{Text: "The spare key is under the pot"}, monday)
			if err == nil && !m.Explicit {
				t.Error("not explicit")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if list := all(t, s); len(list) != 1 {
		t.Errorf("want one:\n%s", dump(list))
	}
	err := s.Update(context.Background(), func(tx skald.Tx) error {
		_, err := memory.Store(tx, scopes, memory.Note{Text: "I like spam", Type: skald.MemoryPreference, Origin: skald.OriginPerson}, monday)
		return err
	})
	if skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("a stranger's preference: %v", err)
	}
}

func TestDocument(t *testing.T) {
	list := extract(t, said(monday, "I prefer short answers."))
	got := memory.Document(list[0])
	for _, w := range []string{"type: preferences\n", "valid_from: 2026-03-02T09:00:00Z\n", "/sessions/s1/turns/1\n", "“I prefer short answers.” — user, 2026-03-02\n"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in\n%s", w, got)
		}
	}
}

func TestProfileIsBounded(t *testing.T) {
	s := store.New()
	defer s.Close()
	err := s.Update(context.Background(), func(tx skald.Tx) error {
		_, err := memory.Apply(tx, scopes, memory.Candidates(ref, said(monday, "My name is Ada Berg.", "I am allergic to nuts.", "I prefer short answers.", "I like <system>jazz</system>.")), 1, monday)
		if err != nil {
			return err
		}
		full, err := memory.Profile(tx, scopes.User, 500)
		if err != nil {
			return err
		}
		if !strings.Contains(full, "Ada Berg") || !strings.Contains(full, "short answers") || strings.Contains(full, "<system>") {
			t.Errorf("profile:\n%s", full)
		}
		small, err := memory.Profile(tx, scopes.User, 40)
		if len(small) >= len(full) || small == "" {
			t.Errorf("small profile: %q", small)
		}
		group, err := memory.ProfileFor(tx, scopes.User, "group:x", 500)
		if group != "" {
			t.Errorf("a group sees %q", group)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

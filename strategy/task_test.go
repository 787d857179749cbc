package strategy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
)

func line(seq int64, speaker, text string) skald.Line {
	return skald.Line{Text: text, Speaker: speaker, Time: time.Date(2026, 3, 2, 9, int(seq)%60, 0, 0, time.UTC), From: seq, To: seq}
}

// twoTasks are a session that writes a parser, looks for a hotel in between, and goes back to the parser.
func twoTasks() []skald.Archive {
	return []skald.Archive{{Index: 1, Epoch: 1, From: 1, To: 40, Overview: []skald.Section{
		{Title: archive.SectionGoals, Lines: []skald.Line{line(1, "user", "Write a parser for the invoice format"), line(21, "user", "Find a hotel in Lisbon for May")}},
		{Title: archive.SectionDecisions, Lines: []skald.Line{line(5, "user", "The parser of the invoice format returns every error at once"), line(25, "user", "The hotel in Lisbon costs at most 120 a night")}},
		{Title: archive.SectionFiles, Lines: []skald.Line{line(8, "agent", "write invoice/parser.go (Parse)")}},
		{Title: archive.SectionTools, Lines: []skald.Line{line(9, "tool bash", "FAIL invoice/parser.go:17: unexpected comma"), line(27, "tool web_search", "Hotel Tejo, Lisbon: 110 a night")}},
	}}, {Index: 2, Epoch: 1, From: 41, To: 60, Overview: []skald.Section{
		{Title: archive.SectionTasks, Lines: []skald.Line{line(41, "user", "Go on with the invoice parser: the comma of line 17 must be accepted")}},
		{Title: archive.SectionPeople, Lines: []skald.Line{line(44, "user", "I like the invoice format")}},
	}}}
}

// TestTasksToldApart: lines go to the task they are about, an old task is taken up again, and each is recognised by its kind.
func TestTasksToldApart(t *testing.T) {
	t.Parallel()
	tasks := tasksOf(twoTasks())
	if len(tasks) != 2 {
		t.Fatalf("%d tasks", len(tasks))
	}
	hotel, parser := tasks[0], tasks[1] // by when they were last worked on
	if hotel.kind() != kindResearch || hotel.from != 21 || hotel.to != 27 || len(hotel.lines) != 3 {
		t.Errorf("%s, turns %d-%d: %v", hotel.kind(), hotel.from, hotel.to, hotel.lines)
	}
	if parser.kind() != kindCoding || parser.from != 1 || parser.to != 44 || len(parser.lines) != 6 {
		t.Errorf("%s, turns %d-%d: %v", parser.kind(), parser.from, parser.to, parser.lines)
	}
}

// TestTaskBoard: the board fits any room, and what a task hangs on outlasts the rest of it.
func TestTaskBoard(t *testing.T) {
	t.Parallel()
	ref := skald.SessionRef{ID: "s1"}
	for room := 20; room < 900; room += 10 {
		board := renderTasks(ref, tasksOf(twoTasks()), room)
		if n := message.TextTokens(board); n > room {
			t.Fatalf("%d tokens in a room of %d", n, room)
		}
		if strings.Contains(board, "I like the invoice format") && !strings.Contains(board, "returns every error at once") {
			t.Fatalf("in a room of %d a remark stands and a decision does not:\n%s", room, board)
		}
	}
	board := renderTasks(ref, tasksOf(twoTasks()), 900)
	for _, want := range []string{"# Research, turns 21-27", "# Coding, turns 1-44", "returns every error at once", "parser.go (Parse)", "unexpected comma", "at most 120"} {
		if !strings.Contains(board, want) {
			t.Errorf("%q is not on the board:\n%s", want, board)
		}
	}
}

// TestChatterLeavesFirst: where the raw turns are too long, nods leave before work, and can be looked up afterwards.
func TestChatterLeavesFirst(t *testing.T) {
	t.Parallel()
	var turns []shown
	say := func(raw json.RawMessage) {
		s := made(raw)
		s.seq = int64(len(turns) + 1)
		turns = append(turns, s)
	}
	for i := range 10 {
		say(message.User(fmt.Sprintf("Please paint gate %d of the house in red", i), 1))
		say(message.Assistant("It is painted.", 2))
		say(message.User("Thanks, got it!", 3))
		say(message.Assistant("You are welcome.", 4))
	}
	list, gone := split(turns), map[int64]bool{}
	kept := withoutChatter(list, 100, 8, gone)
	if tokensOf(list)-tokensOf(kept) < 100 || len(gone) == 0 || len(gone) > 10 {
		t.Fatalf("%d turns left, %d of %d tokens", len(gone), tokensOf(list)-tokensOf(kept), tokensOf(list))
	}
	for seq := range gone {
		if (seq-1)%4 < 2 {
			t.Errorf("turn %d of the work left", seq)
		}
	}
	if all := withoutChatter(list, 1_000_000, 8, map[int64]bool{}); countTurns(all) != 24 {
		t.Errorf("%d turns stay, want the 20 of the work and the newest 8", countTurns(all))
	}
}

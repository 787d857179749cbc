package record_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func TestRoundTripIsExact(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	want := skald.Session{
		Ref:  skald.SessionRef{Scope: skald.Scope{Account: "a", Kind: skald.ScopeUser, User: "u\x00\xff"}, ID: "s"},
		Head: "broken \xff\xfe and \x00", Created: at, LastSeq: -7, HeadSet: true, Cursor: json.RawMessage("{ \"a\" :1"),
	}
	var got skald.Session
	if err := record.Decode(record.Encode(want), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	archive := skald.Archive{Overview: []skald.Section{{Title: "t", Lines: []skald.Line{{Text: "x", Time: at, From: 1, To: 2}, {}}}, {}}}
	var back skald.Archive
	if err := record.Decode(record.Encode(archive), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(archive, back); d != "" {
		t.Error(d)
	}
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	t.Parallel()
	type newer struct {
		Gone []skald.TurnRange
		Kept string
	}
	var older struct{ Kept string }
	data := record.Encode(newer{Gone: []skald.TurnRange{{StartSequence: 1, EndSequence: 2}}, Kept: "k"})
	if err := record.Decode(data, &older); err != nil || older.Kept != "k" {
		t.Errorf("got %q, %v", older.Kept, err)
	}
}

func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add(record.Encode(skald.Archive{Index: 3, Steps: []string{"a"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a skald.Archive
		_ = record.Decode(data, &a)
	})
}

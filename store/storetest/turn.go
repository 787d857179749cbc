package storetest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/skald-engine/skald"
)

func recall(after int64) skald.PlacedRecall {
	return skald.PlacedRecall{AfterSeq: after, TurnID: "exchange-1", Time: at(1), Messages: [][]byte{[]byte("call\x00"), []byte("\xffresult")},
		Tokens: 12, URIs: []string{"viking://user/alice/memories/profile.md"}}
}

func deadLetter(ref skald.SessionRef, reason string) skald.DeadLetter {
	return skald.DeadLetter{Session: ref, Time: at(1), Reason: reason, Bytes: 1 << 33, Head: []byte("\x00\xfe head")}
}

func getTurns(q skald.TurnQuery) func(skald.Tx) ([]skald.Turn, error) {
	return func(tx skald.Tx) ([]skald.Turn, error) { return tx.Turns(chat, q) }
}

func getSeqs(q skald.TurnQuery) func(skald.Tx) ([]int64, error) {
	return func(tx skald.Tx) ([]int64, error) {
		list, err := tx.Turns(chat, q)
		return seqs(list), err
	}
}

var turnTests = map[string]func(*testing.T, skald.Store){
	"AppendAndRead": func(t *testing.T, s skald.Store) {
		_, last, _ := lastLink(t, s)
		same(t, "last of an empty session", last, int64(0))
		want := turns(1, 3)
		want[1] = skald.Turn{Seq: 2, Position: -1, MatchKey: "not hex", Role: "weird", Origin: "new", Audience: "group", Purpose: "other", Source: "odd"}
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, want[:1]) })
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, want[1:]) })
		same(t, "turns", read(t, s, getTurns(skald.TurnQuery{})), want)
		link, last, _ := lastLink(t, s)
		same(t, "last link", link, want[2].Link)
		same(t, "last sequence", last, int64(3))
	},
	"AppendMustContinue": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, turns(1, 2)) })
		for name, list := range map[string][]skald.Turn{
			"gap": turns(4, 4), "repeat": turns(2, 2), "gap inside": {turn(3), turn(5)}, "zero": turns(0, 0), "backwards": {turn(4), turn(3)},
		} {
			update(t, s, func(tx skald.Tx) error { // a refused append leaves nothing even when the transaction goes on
				wantKind(t, name, tx.AppendTurns(chat, list), skald.KindConflict)
				return nil
			})
		}
		same(t, "stored", read(t, s, getSeqs(skald.TurnQuery{})), []int64{1, 2})
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, nil) })
	},
	"Query": func(t *testing.T, s skald.Store) {
		list := turns(1, 8)
		for i := range list {
			list[i].Epoch = 1 + i/4
			list[i].Source = []skald.Source{skald.SourceHost, skald.SourceView}[i%2]
		}
		list[5].EntryID, list[6].EntryID, list[4].MatchKey, list[7].MatchKey = "twice", "twice", "", list[6].MatchKey
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, list) })
		host, view := skald.SourceHost, skald.SourceView
		for name, c := range map[string]struct {
			q    skald.TurnQuery
			want []int64
		}{
			"all":               {skald.TurnQuery{}, []int64{1, 2, 3, 4, 5, 6, 7, 8}},
			"from":              {skald.TurnQuery{From: 7}, []int64{7, 8}},
			"to":                {skald.TurnQuery{To: 2}, []int64{1, 2}},
			"run":               {skald.TurnQuery{From: 3, To: 5}, []int64{3, 4, 5}},
			"newest":            {skald.TurnQuery{Desc: true, Limit: 2}, []int64{8, 7}},
			"newest of a run":   {skald.TurnQuery{Desc: true, Limit: 2, To: 5}, []int64{5, 4}},
			"oldest":            {skald.TurnQuery{Limit: 2, From: 2}, []int64{2, 3}},
			"epoch":             {skald.TurnQuery{Epoch: 2, To: 6}, []int64{5, 6}},
			"host":              {skald.TurnQuery{Source: &host, Limit: 3}, []int64{1, 3, 5}},
			"view":              {skald.TurnQuery{Source: &view, Desc: true}, []int64{8, 6, 4, 2}},
			"entries":           {skald.TurnQuery{EntryIDs: []string{"entry-3", "none", "twice", "entry-1", ""}}, []int64{1, 3, 6, 7}},
			"empty entry":       {skald.TurnQuery{EntryIDs: []string{""}}, nil},
			"entries, newest":   {skald.TurnQuery{EntryIDs: []string{"entry-3", "twice"}, Desc: true, Limit: 2}, []int64{7, 6}},
			"match keys":        {skald.TurnQuery{MatchKeys: []string{list[6].MatchKey, list[0].MatchKey, ""}}, []int64{1, 7, 8}},
			"match keys, run":   {skald.TurnQuery{MatchKeys: []string{list[6].MatchKey, list[0].MatchKey}, From: 2, To: 7}, []int64{7}},
			"both":              {skald.TurnQuery{MatchKeys: []string{list[6].MatchKey, list[5].MatchKey}, EntryIDs: []string{"twice"}}, []int64{6, 7}},
			"entries and epoch": {skald.TurnQuery{EntryIDs: []string{"entry-1", "twice"}, Epoch: 2, Source: &host}, []int64{7}},
			"nothing":           {skald.TurnQuery{From: 9}, nil},
		} {
			same(t, name, read(t, s, getSeqs(c.q)), c.want)
		}
		for _, turn := range read(t, s, getTurns(skald.TurnQuery{NoRaw: true})) {
			if turn.Raw != nil || turn.Leaf == nil || turn.Link == nil {
				t.Errorf("NoRaw: turn %d has raw %q, leaf %q", turn.Seq, turn.Raw, turn.Leaf)
			}
		}
	},
	"BytesComeBackAsTheyAre": func(t *testing.T, s skald.Store) {
		big := make([]byte, 5<<20)
		for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(big); i++ {
			big[i] = byte(r.Uint32())
		}
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		payloads := [][]byte{{}, {0}, []byte("a\x00b\x00"), []byte("\xff\xfe\xed\xa0\x80"), []byte("{ \"a\" : \"\\ud800\" }\r\n"), all, big}
		var list []skald.Turn
		for i, raw := range payloads {
			turn := turn(int64(i + 1))
			turn.Raw, turn.Salt, turn.EntryID, turn.Speaker = raw, all[:16], "id\x00\xff", "\xc3("
			list = append(list, turn)
		}
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, list) })
		for i, got := range read(t, s, getTurns(skald.TurnQuery{})) {
			if got.Raw == nil || !bytes.Equal(got.Raw, payloads[i]) {
				t.Errorf("payload %d of %d bytes came back different", i, len(payloads[i]))
			}
			got.Raw, list[i].Raw = nil, nil
			same(t, "metadata", got, list[i])
		}
	},
	"StoredBytesAreNotShared": func(t *testing.T, s skald.Store) {
		mine := turn(1)
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, []skald.Turn{mine}) })
		mine.Raw[0] = 'X'
		read(t, s, getTurns(skald.TurnQuery{}))[0].Raw[1] = 'Y'
		same(t, "turn", read(t, s, getTurns(skald.TurnQuery{})), turns(1, 1))
	},
	"UpdateChangesMetadataOnly": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, turns(1, 2)) })
		changed := turn(2)
		changed.Forgotten, changed.Epoch, changed.Role, changed.EntryID, changed.Link = true, 4, skald.RoleTool, "new", []byte("new link")
		changed.Raw, changed.Salt, changed.MatchKey = []byte("tampered"), []byte("tampered"), "abcd"
		update(t, s, func(tx skald.Tx) error { return tx.UpdateTurn(chat, changed) })
		changed.Raw, changed.Salt = turn(2).Raw, turn(2).Salt
		same(t, "turns", read(t, s, getTurns(skald.TurnQuery{})), []skald.Turn{turn(1), changed})
		same(t, "new entry id", read(t, s, getSeqs(skald.TurnQuery{EntryIDs: []string{"new", "entry-2"}})), []int64{2})
		same(t, "new match key", read(t, s, getSeqs(skald.TurnQuery{MatchKeys: []string{"abcd"}})), []int64{2})
		update(t, s, func(tx skald.Tx) error {
			wantKind(t, "missing turn", tx.UpdateTurn(chat, turn(3)), skald.KindNotFound)
			wantKind(t, "missing session", tx.UpdateTurn(skald.SessionRef{Scope: bob, ID: chat.ID}, turn(1)), skald.KindNotFound)
			return nil
		})
	},
	"PurgeLeavesATombstone": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, turns(1, 3)) })
		purged := turn(2)
		purged.Purged, purged.Leaf = true, nil
		update(t, s, func(tx skald.Tx) error { return tx.UpdateTurn(chat, purged) })
		purged.Raw, purged.Salt, purged.Leaf = nil, nil, turn(2).Leaf
		got := read(t, s, getTurns(skald.TurnQuery{}))
		same(t, "turns", got, []skald.Turn{turn(1), purged, turn(3)})
		if got[1].Raw != nil || got[1].Salt != nil {
			t.Errorf("the tombstone has raw %q and salt %q", got[1].Raw, got[1].Salt)
		}
		update(t, s, func(tx skald.Tx) error {
			back := turn(2)
			wantKind(t, "taking a purge back", tx.UpdateTurn(chat, back), skald.KindConflict)
			wantKind(t, "replacing a tombstone", tx.ReplaceRaw(chat, back), skald.KindConflict)
			purged.Forgotten = true
			return tx.UpdateTurn(chat, purged)
		})
		same(t, "tombstone with other metadata", read(t, s, getTurns(skald.TurnQuery{From: 2, To: 2})), []skald.Turn{purged})
		h, err := s.Health(t.Context())
		same(t, "turns counted", h.Turns, int64(3))
		if err != nil {
			t.Error(err)
		}
	},
	"ReplaceRawOfAViewTurnOnly": func(t *testing.T, s skald.Store) {
		seen := turn(2)
		seen.Source = skald.SourceView
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, []skald.Turn{turn(1), seen, turn(3)}) })
		original := turn(2)
		original.Raw, original.Tokens, original.Salt, original.Leaf, original.Link = []byte("the original"), 99, []byte("s"), []byte("l"), []byte("k")
		update(t, s, func(tx skald.Tx) error { return tx.ReplaceRaw(chat, original) })
		same(t, "turns", read(t, s, getTurns(skald.TurnQuery{})), []skald.Turn{turn(1), original, turn(3)})
		update(t, s, func(tx skald.Tx) error {
			wantKind(t, "an original", tx.ReplaceRaw(chat, original), skald.KindConflict)
			wantKind(t, "missing", tx.ReplaceRaw(chat, turn(4)), skald.KindNotFound)
			return nil
		})
	},
	"TurnKeys": func(t *testing.T, s skald.Store) {
		_, found, _ := turnKey(t, s, chat, "k")
		same(t, "missing key", found, false)
		want := skald.TurnRange{StartSequence: 3, EndSequence: 9}
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.PutTurnKey(chat, "k", skald.TurnRange{StartSequence: 1}) },
				func() error { return tx.PutTurnKey(chat, "k", want) },
				func() error { return tx.PutTurnKey(chat, "", skald.TurnRange{StartSequence: 5}) },
			)
		})
		got, found, _ := turnKey(t, s, chat, "k")
		same(t, "key", got, want)
		same(t, "found", found, true)
		got, _, _ = turnKey(t, s, chat, "")
		same(t, "empty key", got, skald.TurnRange{StartSequence: 5})
	},
	"Recalls": func(t *testing.T, s skald.Store) {
		other := recall(2)
		other.TurnID, other.Messages = "exchange-2", [][]byte{[]byte("x")}
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.PutRecall(chat, recall(9)) },
				func() error { return tx.PutRecall(chat, recall(2)) },
				func() error { return tx.PutRecall(chat, recall(0)) },
				func() error { return tx.PutRecall(chat, other) },
			)
		})
		get := func(from int64) []skald.PlacedRecall {
			return read(t, s, func(tx skald.Tx) ([]skald.PlacedRecall, error) { return tx.Recalls(chat, from) })
		}
		same(t, "all", get(0), []skald.PlacedRecall{recall(0), other, recall(9)})
		same(t, "from 2", get(2), []skald.PlacedRecall{other, recall(9)})
		same(t, "from 10", get(10), []skald.PlacedRecall(nil))
	},
	"DeadLetters": func(t *testing.T, s skald.Store) {
		mine, his := chat, skald.SessionRef{Scope: bob, ID: "b"}
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.PutDeadLetter(deadLetter(mine, "1")) },
				func() error { return tx.PutDeadLetter(deadLetter(his, "2")) },
				func() error { return tx.PutDeadLetter(deadLetter(mine, "3")) },
			)
		})
		get := func(scopes []skald.Scope, limit int) []skald.DeadLetter {
			return read(t, s, func(tx skald.Tx) ([]skald.DeadLetter, error) { return tx.DeadLetters(scopes, limit) })
		}
		same(t, "newest first", get([]skald.Scope{alice}, 0), []skald.DeadLetter{deadLetter(mine, "3"), deadLetter(mine, "1")})
		same(t, "two scopes", get([]skald.Scope{alice, bob}, 2), []skald.DeadLetter{deadLetter(mine, "3"), deadLetter(his, "2")})
		same(t, "no scope", get(nil, 0), []skald.DeadLetter(nil))
	},
}

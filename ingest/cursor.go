package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"

	"github.com/skald-engine/skald"
)

// cursor is what an import keeps with a session's turns, in the same transaction: how many entries it has delivered, and a digest of
// their ids. A later run that reads the same entries need not deliver them again. It only saves time: an entry is recognised by its
// id in any case. The sessions of a live host keep the host's own cursor instead.
type cursor struct {
	Import struct {
		Origin  string `json:"origin"`
		Entries int    `json:"entries"`
		Digest  string `json:"digest"`
	} `json:"import"`
}

func readCursor(raw json.RawMessage) (c cursor) {
	if json.Unmarshal(raw, &c) != nil {
		return cursor{} // a host's own
	}
	return c
}

// tally counts entries and digests their ids.
type tally struct {
	entries int
	sum     hash.Hash
}

func newTally() tally { return tally{sum: sha256.New()} }

func (t *tally) add(e skald.Entry) {
	t.entries++
	t.sum.Write([]byte(e.EntryID))
	t.sum.Write([]byte{0})
}

func (t *tally) cursor(origin string) cursor {
	var c cursor
	c.Import.Origin, c.Import.Entries, c.Import.Digest = origin, t.entries, hex.EncodeToString(t.sum.Sum(nil))
	return c
}

func (c cursor) raw() (json.RawMessage, error) { return json.Marshal(c) }

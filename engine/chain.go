package engine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"github.com/skald-engine/skald"
)

// The chain over a session's turns is tamper evidence: link n hashes link n-1, the sequence and the turn's leaf. A leaf hashes the
// payload with a random salt, so that it says nothing about the payload once both are purged.

func newSalt() []byte {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	return salt
}

func leaf(salt, raw []byte) []byte {
	sum := sha256.New()
	sum.Write(salt)
	sum.Write(raw)
	return sum.Sum(nil)
}

// viewLeaf stands for a turn known from the assembled view only: it survives the replacement by the original.
func viewLeaf(matchKey string) []byte {
	sum := sha256.Sum256([]byte("view\x00" + matchKey))
	return sum[:]
}

func link(previous []byte, seq int64, leaf []byte) []byte {
	sum := sha256.New()
	sum.Write(previous)
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(seq))
	sum.Write(n[:])
	sum.Write(leaf)
	return sum.Sum(nil)
}

// linked reports whether t continues the chain.
func linked(previous []byte, t skald.Turn) bool {
	if t.Purged {
		return bytes.Equal(t.Link, link(previous, t.Seq, t.Leaf))
	}
	return bytes.Equal(t.Link, link(previous, t.Seq, leaf(t.Salt, t.Raw))) ||
		bytes.Equal(t.Link, link(previous, t.Seq, viewLeaf(t.MatchKey))) && bytes.Equal(t.Leaf, viewLeaf(t.MatchKey))
}

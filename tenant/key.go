package tenant

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Key is a user's key and what is kept of it.
type Key struct {
	Text   string            // shown once
	Sum    [sha256.Size]byte // SHA-256 of the text
	Prefix string            // of its secret part
}

// prefixLength is how much of a key may be shown: enough to tell two keys apart, 24 of its 256 bits.
const prefixLength = 8

// newKey makes a key in OpenViking's form: account, user and a secret of 64 hex digits, each as unpadded base64url, joined by dots. The
// secret is random, or follows from user and seed as OpenViking derives it, so that a client's key survives the change of servers. A
// seeded key is as hard to guess as its seed.
func newKey(account, user, seed string) Key {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	if seed != "" {
		sum := sha256.Sum256([]byte(user + "\x00" + seed))
		secret = sum[:]
	}
	encode := base64.RawURLEncoding.EncodeToString
	last := encode([]byte(hex.EncodeToString(secret)))
	text := encode([]byte(account)) + "." + encode([]byte(user)) + "." + last
	return Key{Text: text, Sum: sha256.Sum256([]byte(text)), Prefix: last[:prefixLength]}
}

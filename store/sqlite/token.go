package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/skald-engine/skald"
)

// The index holds tokens, not terms: a token is the scope's number, a mark and the escaped term. So frequencies and postings are
// per scope without a filter, and what a search is restricted to (a session, a kind of document) is one more token to intersect
// with. FTS5's ascii tokenizer takes letters, digits, "_" and every byte from 0x80 as part of a token and folds upper case, so
// everything else and upper case are escaped; a term survives as exactly one token.
func termToken(scope int64, term string) string        { return token(scope, 't', term) }
func sessionToken(scope int64, id string) string       { return token(scope, 's', id) }
func kindToken(scope int64, kind skald.DocKind) string { return token(scope, 'k', string(kind)) }
func token(scope int64, mark byte, text string) string {
	return strconv.FormatInt(scope, 36) + "_" + string(mark) + escape(text)
}

// maxToken is the length from which on a term is stored by its hash: nobody reads such a term, and FTS5 cuts at 32 KB.
const maxToken = 120

const hexDigits = "0123456789abcdef"

func escape(term string) string {
	if plain(term) {
		return term
	}
	var b strings.Builder
	for i := range len(term) {
		c := term[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'_', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	if b.Len() <= maxToken {
		return b.String()
	}
	sum := sha256.Sum256([]byte(term))
	return "_h" + hex.EncodeToString(sum[:16]) // "_h" is no escape
}

// plain reports that a term needs no escape: most don't.
func plain(term string) bool {
	for i := range len(term) {
		if c := term[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80) {
			return false
		}
	}
	return len(term) <= maxToken
}

// quoted is the token in FTS5's query language. It holds no quotation mark.
func quoted(token string) string { return `"` + token + `"` }

// Package analyze turns text into index terms. It is the only analyser: every store keeps its terms as opaque tokens, so SQLite and
// PostgreSQL find the same things (CJK-01, SRC-06). Words are NFKC-folded, lower-cased and stemmed (English); Han, kana, hangul and other
// scripts without spaces become single characters and bigrams; identifiers are kept whole and in parts.
package analyze

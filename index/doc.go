// Package index makes the documents of the lexical index: passages of turns, lines of archive overviews, passages of memories and of
// other texts. The text of a document is not stored a second time; Start and End cut it out of the text it belongs to.
package index

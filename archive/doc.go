// Package archive turns open turns into archives and archives into what the model reads of them: phase 1 of a commit (Close),
// phase 2 as resumable steps (Runner), the builtin extractive summariser (Builtin), and the texts made from summaries (Text,
// Head).
//
// A commit never changes or deletes a turn (I4): an archive is a range of sequences plus notes about it, and every note names
// the turns it was taken from (I5, 000-110 to 000-123). The archive can be read from phase 1 on, whatever phase 2 does (000-086).
package archive

package index

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/skald-engine/skald"
)

// Marks are terms that stand for what a document belongs to rather than for a word of it: each folder above it, and each of its tags. A
// search that must find below a folder, or with a tag, demands the mark (SearchQuery.Must) and looks at nothing else. No word of the
// analyser begins as they do. A mark is a hash: who finds by one checks what was found.

// maxFolders bounds the marks of a document: folders deeper than that are found by the mark of one above them.
const maxFolders = 8

// FolderMark is the mark of what lies below a folder, or below the one above it that has a mark.
func FolderMark(folder skald.URI) string {
	above := folders(folder)
	return mark("in", string(above[min(len(above), maxFolders)-1]))
}

// TagMark is the mark of a tag.
func TagMark(tag string) string { return mark("tag", strings.ToLower(tag)) }

// Marked adds to documents the marks of their URI and of these tags. A file is in a folder of its own URI, so that it is found where a
// search is restricted to it.
func Marked(docs []skald.Doc, tags []string) []skald.Doc {
	if len(docs) == 0 {
		return docs
	}
	var marks []string
	above := folders(docs[0].URI)
	for _, f := range above[:min(len(above), maxFolders)] {
		marks = append(marks, mark("in", string(f)))
	}
	marks = append(marks, tagMarks(tags)...)
	for i := range docs {
		docs[i].Terms = append(docs[i].Terms, marks...)
	}
	return docs
}

func tagMarks(tags []string) []string {
	var marks []string
	for _, t := range tags {
		marks = append(marks, TagMark(t))
	}
	return marks
}

// folders lists a URI and the folders above it, the uppermost first.
func folders(uri skald.URI) []skald.URI {
	var out []skald.URI
	for at := len(skald.Root); at < len(uri); at++ {
		if uri[at] == '/' {
			out = append(out, uri[:at])
		}
	}
	return append(out, uri)
}

func mark(kind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return "\x01" + kind + hex.EncodeToString(sum[:8])
}

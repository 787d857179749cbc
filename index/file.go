package index

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
)

// The reserved names of a folder's L0 and L1: documents of these URIs are cut out of the folder's own texts.
const (
	AbstractName = ".abstract.md"
	OverviewName = ".overview.md"
)

// Level is the level of what a URI names: 0 a folder's abstract, 1 its overview, 2 everything else.
func Level(uri skald.URI) int {
	switch uri.Name() {
	case AbstractName:
		return 0
	case OverviewName:
		return 1
	}
	return 2
}

// FileURI is the file or folder that the documents of a URI belong to.
func FileURI(uri skald.URI) skald.URI {
	if Level(uri) < 2 {
		return uri.Parent()
	}
	return uri
}

// FileText is the text that the documents of a URI are cut out of: a file's content when that is text, or one of a folder's own texts.
func FileText(f skald.File, uri skald.URI) string {
	switch level := Level(uri); {
	case f.Dir && level == 0:
		return f.Abstract
	case f.Dir:
		return f.Overview
	case !utf8.Valid(f.Body) || bytes.IndexByte(f.Body, 0) >= 0:
		return ""
	}
	return string(f.Body)
}

// Below reports that a URI is a folder or lies below it.
func Below(uri, folder skald.URI) bool {
	return uri == folder || strings.HasPrefix(string(uri), strings.TrimRight(string(folder), "/")+"/")
}

package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is the most bytes of a name. The tree stands in URIs, and what is written out again must fit a file system (255).
const maxName = 120

// reserved names mean something else in the tree.
var reserved = []string{
	".abstract.md", ".overview.md", ".meta.json", ".relations.json", ".done", ".failed.json", ".recall_log.json",
	".watch_tasks.json", ".redirect.json", ".sync_log.json", "_system", "_ovpack",
}

// device names cannot be written on Windows.
var device = []string{"con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "lpt1", "lpt2", "lpt3", "lpt4"}

// CleanName makes a readable name that is safe in a URI and on every file system: NFC, without control characters and separators, without
// spaces and dots at its ends, not reserved, at most 120 bytes. The same name always becomes the same.
func CleanName(name string) string {
	name = strings.Map(safeRune, norm.NFC.String(strings.ToValidUTF8(name, "_")))
	name = strings.TrimRight(strings.TrimSpace(name), ". ")
	if len(name) > maxName {
		name = shorten(name)
	}
	if name == "" {
		return "_"
	}
	if slices.Contains(reserved, name) || slices.Contains(device, strings.ToLower(stem(name))) {
		return "_" + strings.TrimPrefix(name, ".")
	}
	return name
}

func safeRune(r rune) rune {
	switch {
	case strings.ContainsRune(`/\:*?"<>|%#`, r), unicode.IsControl(r), r == utf8.RuneError:
		return '_'
	case unicode.Is(unicode.Cf, r): // invisible: joiners, direction marks
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// shorten cuts a name, keeps its extension, and marks it with a hash so that long names which begin alike stay apart.
func shorten(name string) string {
	ext := path.Ext(name)
	if len(ext) > 12 {
		ext = ""
	}
	head := strings.TrimSuffix(name, ext)
	keep := maxName - len(ext) - 9
	for keep > 0 && !utf8.RuneStart(head[keep]) {
		keep--
	}
	return strings.TrimSpace(head[:keep]) + "_" + Mark(name) + ext
}

// Mark is a short hash of a text, for names that would be the same.
func Mark(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Marked is name with the mark of a text before its extension.
func Marked(name, text string) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "_" + Mark(text) + ext
}

// cleanPath makes every segment of a path a safe name.
func cleanPath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = CleanName(part)
	}
	return strings.Join(parts, "/")
}

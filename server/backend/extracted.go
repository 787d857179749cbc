package backend

import (
	"strings"

	skald "github.com/skald-engine/skald"
)

// byType counts memories, each once, by the folder that holds them.
func byType(memories []skald.URI) map[string]int {
	out, seen := map[string]int{}, map[skald.URI]bool{}
	for _, u := range memories {
		if !seen[u] {
			seen[u] = true
			out[typeOf(u)]++
		}
	}
	return out
}

// typeOf is the type of a memory, read off its URI: a folder below memories/, or the profile, which is a file.
func typeOf(u skald.URI) string {
	_, rest, _ := strings.Cut(string(u), "/memories/")
	folder, _, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(folder, ".md")
}

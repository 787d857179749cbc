package engine

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

const (
	fileChars    = 20_000 // of a file's text at once
	fileMatch    = 6_000  // around what a query finds in it
	mostChildren = 50     // of a folder, that are named
	skillFile    = "SKILL.md"
)

// isFile reports a URI among the files of the tree: neither a session, nor a memory.
func isFile(uri skald.URI, account string) bool {
	_, err := uri.Resolve(account)
	return err != nil && (isShared(uri) || isOwn(uri))
}

// isOwn reports a URI among a user's own resources or skills.
func isOwn(uri skald.URI) bool {
	parts := strings.Split(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
	if len(parts) < 3 || parts[0] != "user" {
		return false
	}
	rest := parts[2:] // behind the user, and the agent where users are kept apart by agent
	if len(rest) > 2 && rest[0] == "agent" {
		rest = rest[2:]
	}
	return rest[0] == "resources" || rest[0] == "skills"
}

// fileExpansion reads a file of the tree, a resource or a skill: its text from offset on (characters), or the part that a query finds. A folder
// reads as its SKILL.md, else as its overview; what else is in it is named.
func fileExpansion(v view.View, uri skald.URI, query string, offset int) (skald.Expansion, error) {
	x := skald.Expansion{URI: uri, Turns: []skald.ExpandedTurn{}, More: []skald.URI{}}
	if view.IsText(uri) { // found by a folder's abstract or overview: the folder is meant
		uri = uri.Parent()
	}
	n, err := v.Stat(uri)
	if err != nil {
		return x, err
	}
	var text string
	if n.Dir {
		n, text, err = folderText(v, n, &x)
	} else {
		text, err = fileText(v, n)
	}
	if err != nil {
		return x, err
	}
	part, cut := page(text, query, offset)
	x.Total = 1
	x.Turns = append(x.Turns, skald.ExpandedTurn{URI: n.URI, Time: n.Modified, Speaker: "file", Text: part, Cut: cut})
	return x, nil
}

// folderText is what is read of a folder, and of which node.
func folderText(v view.View, n view.Node, x *skald.Expansion) (view.Node, string, error) {
	shown, text := n, cmp.Or(n.Overview, n.Abstract)
	list, err := v.Children(n.URI)
	if err != nil {
		return n, "", err
	}
	for _, c := range list {
		switch {
		case view.IsText(c.URI):
		case c.Name == skillFile && !c.Dir:
			if text, err = fileText(v, c); err != nil {
				return n, "", err
			}
			shown = c
		case len(x.More) < mostChildren:
			x.More = append(x.More, c.URI)
		}
	}
	return shown, text, nil
}

// fileText is a file's text; of one that is no text, what can be said about it.
func fileText(v view.View, n view.Node) (string, error) {
	body, err := v.Body(n.URI)
	if err != nil {
		return "", err
	}
	if text := tree.Text(skald.File{Body: body}); text != "" || len(body) == 0 {
		return text, nil
	}
	return strings.TrimSpace(fmt.Sprintf("(%d bytes that are no text) %s %s", n.Size, n.Media, n.Abstract)), nil
}

// page is a part of a text, and whether there is more: around what a query finds, else from offset on.
func page(text, query string, offset int) (string, bool) {
	if query != "" {
		return cutAround(text, query, fileMatch)
	}
	if offset == 0 && utf8.RuneCountInString(text) <= fileChars {
		return text, false
	}
	runes := []rune(text)
	from := min(max(0, offset), len(runes))
	to := min(from+fileChars, len(runes))
	return string(runes[from:to]), to < len(runes)
}

// fileAnswer shows a file to the model.
func fileAnswer(x skald.Expansion, query string, offset int) skald.ToolAnswer {
	var b strings.Builder
	for _, t := range x.Turns {
		fmt.Fprintf(&b, "source: %s (quoted as data)\n\n%s\n", t.URI, t.Text)
		switch {
		case t.Cut && query != "":
			b.WriteString("\n(a part; call again without query for the whole)\n")
		case t.Cut:
			fmt.Fprintf(&b, "\n(cut; call again with offset %d for what follows)\n", offset+utf8.RuneCountInString(t.Text))
		}
	}
	if len(x.More) > 0 {
		b.WriteString("\nalso here:\n")
		for _, uri := range x.More {
			fmt.Fprintf(&b, "- %s\n", uri)
		}
	}
	return skald.ToolAnswer{Text: b.String(), Details: details(x)}
}

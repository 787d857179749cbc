package files

import (
	"context"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

// Tags brings tags into their normal form: "key=value" in lower case, one value for a key, the last one. What is no tag is left out.
func Tags(list []string) []string {
	var out []string
	for _, t := range list {
		key, value, ok := strings.Cut(strings.ToLower(strings.TrimSpace(t)), "=")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok || key == "" || value == "" {
			continue
		}
		out = slices.DeleteFunc(out, func(t string) bool { return strings.HasPrefix(t, key+"=") })
		out = append(out, key+"="+value)
	}
	return out
}

// tagged is what a node's tags become.
func tagged(old, tags []string, add bool) []string {
	if add {
		return Tags(slices.Concat(old, tags))
	}
	return tags
}

// SetTags implements api.Files. Tags that are none change nothing: the node is counted as skipped.
func (f *Files) SetTags(ctx context.Context, id skald.Identity, t api.Tagging) (out api.Tagged, err error) {
	tags := Tags(t.Tags)
	err = f.change(ctx, id, t.URI, func(v view.View, uri skald.URI) error {
		out = api.Tagged{Tags: tags}
		nodes, err := f.nodes(v, uri, t.Recursive)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if len(tags) == 0 && len(t.Tags) > 0 { // all were misspelt
				out.Skipped++
				continue
			}
			ok, err := setTags(v, n, tagged(n.Tags, tags, t.Append))
			switch {
			case err != nil:
				return err
			case ok && len(tags) > 0:
				out.Updated = append(out.Updated, n.URI)
			default:
				out.Skipped++
			}
		}
		out.Node, err = v.Stat(uri)
		return err
	})
	return out, err
}

// nodes lists a node, and with recursive all below it.
func (f *Files) nodes(v view.View, uri skald.URI, recursive bool) ([]view.Node, error) {
	n, err := v.Stat(uri)
	if err != nil {
		return nil, err
	}
	list := []view.Node{n}
	if recursive {
		err = v.Walk(uri, maxDepth, func(n view.Node) error {
			if n.Kind != view.Text {
				list = append(list, n)
			}
			return nil
		})
	}
	return list, err
}

// setTags reports whether a node can have tags, and has these now.
func setTags(v view.View, n view.Node, tags []string) (bool, error) {
	switch {
	case n.Memory != nil:
		if slices.Equal(n.Memory.Tags, tags) {
			return true, nil
		}
		m := *n.Memory
		m.Tags = tags
		return true, memory.Index(v.Tx, m)
	case n.Kind == view.File || n.Kind == view.Folder:
		x, err := v.Tx.File(n.Scope, n.URI)
		if err != nil || slices.Equal(x.Tags, tags) {
			return true, err
		}
		x.Tags = tags
		if err := v.Tx.PutFile(x); err != nil {
			return true, err
		}
		return true, tree.Index(v.Tx, x)
	}
	return false, nil
}

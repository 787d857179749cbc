package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/tree/view"
)

// Tools for resources and skills under the names that OpenViking's plugin gave them.

const (
	searchAbstract = 220 // characters of a hit
	mostListed     = 1000
	mostRead       = 20 // files of one ov_multi_read
)

// view is the tree as the calling agent sees it.
func (c *toolCall) view(tx skald.Tx) view.View {
	return view.View{Tx: tx, Policy: c.set.policy, ID: c.id}
}

// toolFind searches resources and skills, or below a URI (001-070).
func toolFind(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if strings.TrimSpace(c.args.Query) == "" {
		return answer, skald.Invalid("ov_search", "query", "say what to look for")
	}
	limit := int(c.args.Limit)
	if limit == 0 {
		limit = defaultFindLimit
	}
	q := skald.FindQuery{Query: c.args.Query, Scope: c.args.URI, Limit: 4 * limit} // a long file brings several passages
	if q.Scope == "" {
		q.Kinds = []skald.DocKind{skald.DocResource, skald.DocSkill}
	}
	err = c.e.store.View(ctx, func(tx skald.Tx) error {
		s, err := c.session(tx)
		if err != nil {
			return err
		}
		result, err := c.e.search(ctx, tx, c.id, c.set.policy, s, q)
		if err != nil {
			return err
		}
		answer = hitTable(result.Trace.Items, limit)
		return nil
	})
	return answer, err
}

// fileHit is one line of ov_search's answer.
type fileHit struct {
	No       int       `json:"no"`
	Type     string    `json:"type"`
	URI      skald.URI `json:"uri"`
	Level    int       `json:"level"`
	Score    float64   `json:"score"`
	Abstract string    `json:"abstract"`
}

// hitTable lists each hit once, with its whole URI.
func hitTable(found []skald.RecallCandidate, limit int) skald.ToolAnswer {
	hits, seen := []fileHit{}, map[skald.URI]bool{}
	var b strings.Builder
	for _, f := range found {
		if seen[f.URI] || len(hits) == limit {
			continue
		}
		seen[f.URI] = true
		abstract, _ := cutAround(strings.Join(strings.Fields(f.Text), " "), "", searchAbstract)
		h := fileHit{No: len(hits) + 1, Type: string(f.Kind), URI: f.URI, Level: index.Level(f.URI), Score: f.Score, Abstract: abstract}
		hits = append(hits, h)
		fmt.Fprintf(&b, "%d. [%s, level %d, %.2f] %s\n   %s\n", h.No, h.Type, h.Level, h.Score, h.URI, h.Abstract)
	}
	text := "Nothing found."
	if len(hits) > 0 {
		text = fmt.Sprintf("Found %d, best first. Read one with memory_expand and its uri.\n%s", len(hits), b.String())
	}
	return skald.ToolAnswer{Text: text, Details: details(map[string]any{"count": len(hits), "results": hits})}
}

// toolRead reads one file.
func toolRead(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if c.args.URI == "" {
		return answer, skald.Invalid("ov_read", "uri", "give the viking:// URI of a file")
	}
	err = c.e.store.View(ctx, func(tx skald.Tx) error {
		x, err := c.file(tx, c.args.URI)
		if err != nil {
			return err
		}
		answer = fileAnswer(x, c.args.Query, int(c.args.Offset))
		return nil
	})
	return answer, err
}

// toolReadMany reads several files; one that cannot be read does not keep the others back.
func toolReadMany(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if len(c.args.URIs) == 0 || len(c.args.URIs) > mostRead {
		return answer, skald.Invalid("ov_multi_read", "uris", "give 1 to %d viking:// URIs", mostRead)
	}
	var b strings.Builder
	failed := map[string]string{}
	err = c.e.store.View(ctx, func(tx skald.Tx) error {
		for _, uri := range c.args.URIs {
			fmt.Fprintf(&b, "--- START %s ---\n", uri)
			switch x, err := c.file(tx, uri); skald.KindOf(err) {
			case "":
				b.WriteString(fileAnswer(x, c.args.Query, 0).Text)
			case skald.KindInvalid, skald.KindNotFound, skald.KindPermission:
				failed[uri] = err.Error()
				b.WriteString("could not be read: " + err.Error() + "\n")
			default:
				return err
			}
			fmt.Fprintf(&b, "--- END %s ---\n", uri)
		}
		return nil
	})
	return skald.ToolAnswer{Text: b.String(), Details: details(map[string]any{"count": len(c.args.URIs), "failed": failed})}, err
}

// file reads what a URI names, as far as the asking session may see it (I9).
func (c *toolCall) file(tx skald.Tx, raw string) (x skald.Expansion, err error) {
	uri, err := c.seen(tx, raw)
	if err != nil {
		return x, err
	}
	return fileExpansion(c.view(tx), uri, c.args.Query, int(c.args.Offset))
}

// seen parses a URI. A URI that was shortened for people names nothing. What was said elsewhere is not for other people's sessions: outside
// of the owner's own there are shared resources and skills only.
func (c *toolCall) seen(tx skald.Tx, raw string) (skald.URI, error) {
	if strings.Contains(raw, "…") || strings.HasSuffix(raw, "...") {
		return "", skald.Invalid("ov_read", "uri", "%q is shortened: give the whole URI", raw)
	}
	uri, err := skald.ParseURI(raw, c.id, c.set.policy)
	if err != nil {
		return "", err
	}
	s, err := c.session(tx)
	if err != nil || s.Audience == skald.AudienceDirect || isShared(uri) {
		return uri, err
	}
	return "", &skald.Error{Op: "ov_read", URI: string(uri), Kind: skald.KindPermission, Err: errAudience}
}

// isShared reports a URI among the resources and skills that all of an account share. A user's own are the owner's alone (I9), as in recall.
func isShared(uri skald.URI) bool {
	parts := strings.Split(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
	return parts[0] == "resources" || len(parts) > 1 && parts[0] == "agent" && parts[1] == "skills"
}

// toolList lists a folder.
func toolList(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if c.args.URI == "" {
		c.args.URI = string(skald.Root)
	}
	limit, depth := int(c.args.Limit), 1
	if limit == 0 {
		limit = 100
	}
	if c.args.Recursive {
		depth = maxTreeDepth
	}
	var lines []string
	err = c.e.store.View(ctx, func(tx skald.Tx) error {
		uri, err := c.seen(tx, c.args.URI)
		if err != nil {
			return err
		}
		if n, err := c.view(tx).Stat(uri); err != nil || !n.Dir {
			return orNoFolder(err, uri)
		}
		err = c.view(tx).Walk(uri, depth, func(n view.Node) error {
			if len(lines) == min(limit, mostListed) {
				return errEnough
			}
			if !view.IsText(n.URI) {
				lines = append(lines, c.line(n))
			}
			return ctx.Err()
		})
		if err == error(errEnough) {
			lines, err = append(lines, "(more: give a larger limit, or list a folder of these)"), nil
		}
		return err
	})
	if err == nil && len(lines) == 0 {
		lines = []string{"The folder is empty."}
	}
	return skald.ToolAnswer{Text: strings.Join(lines, "\n"), Details: details(map[string]any{"count": len(lines), "uri": c.args.URI})}, err
}

func orNoFolder(err error, uri skald.URI) error {
	if err != nil {
		return err
	}
	return &skald.Error{Op: "ov_list", URI: string(uri), Field: "uri", Kind: skald.KindInvalid, Err: skald.E("", skald.KindInvalid, "is a file: read it")}
}

func (c *toolCall) line(n view.Node) string {
	kind := "[file]"
	if n.Dir {
		kind = "[dir]"
	}
	if c.args.Simple || n.Abstract == "" {
		return kind + " " + string(n.URI)
	}
	return kind + " " + string(n.URI) + " - " + n.Abstract
}

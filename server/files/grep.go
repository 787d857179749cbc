package files

import (
	"context"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

const (
	turnPage = 200  // turns read at once
	maxLine  = 4000 // bytes of a line that are shown
	longLine = 16 << 10
)

// Grep implements api.Files: it searches files, memories, overviews and turns, all of them, until the limit of matches is reached
// (SRC-05). A turn is a line of its messages.jsonl, in the archive's folder once it is archived; it is matched by its words, not by its
// JSON. What was forgotten is not found, and content that is no text is passed over. Go's expressions take linear time.
func (f *Files) Grep(ctx context.Context, id skald.Identity, q api.GrepQuery) (out api.GrepResult, err error) {
	exclude := skald.URI("")
	if q.Exclude != "" {
		if exclude, err = f.parse(id, q.Exclude); err != nil {
			return out, err
		}
	}
	err = f.look(ctx, id, q.URI, func(v view.View, root skald.URI) error {
		g := grep{View: v, ctx: ctx, query: q}
		err := g.run(root, exclude)
		out = g.result
		return err
	})
	return out, err
}

// grep is one search under way.
type grep struct {
	view.View
	ctx    context.Context
	query  api.GrepQuery
	result api.GrepResult
	tags   *[]string // of the file that is searched, where they are shown
}

func (g *grep) run(root, exclude skald.URI) error {
	n, err := g.Stat(root)
	if err != nil {
		return err
	}
	depth := g.query.Levels
	if depth == 0 {
		depth = maxDepth
	}
	switch {
	case exclude != "" && under(root, exclude):
		return nil
	case !n.Dir:
		err = g.node(n)
	default:
		err = g.Walk(root, depth, func(n view.Node) error {
			if exclude != "" && under(n.URI, exclude) {
				return view.SkipDir
			}
			if n.Dir || n.Kind == view.Text {
				return g.ctx.Err()
			}
			return g.node(n)
		})
	}
	if err == error(errEnough) {
		return nil
	}
	return err
}

// under reports that a URI is a folder or lies below it.
func under(uri, folder skald.URI) bool {
	return uri == folder || folder == skald.Root || strings.HasPrefix(string(uri), string(folder)+"/")
}

// node matches the lines of a file.
func (g *grep) node(n view.Node) error {
	if err := g.ctx.Err(); err != nil || g.query.Keep != nil && !g.query.Keep(n) {
		return err
	}
	g.tags = nil
	if g.query.ShowTags {
		g.tags = &[]string{}
		*g.tags = append(*g.tags, n.Tags...)
	}
	if n.Kind == view.Session {
		return g.session(n)
	}
	b, err := g.Body(n.URI)
	if err != nil {
		return err
	}
	if !utf8.Valid(b) {
		return nil
	}
	g.result.Files++
	return g.text(n.URI, string(b))
}

func (g *grep) text(uri skald.URI, text string) error {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		beside := func(m *api.GrepMatch) { m.Before, m.After = g.around(lines, i) }
		if err := g.line(uri, i+1, line, beside); err != nil {
			return err
		}
	}
	return nil
}

// around lists the lines beside a match, where they are asked for.
func (g *grep) around(lines []string, at int) (before, after *[]api.GrepLine) {
	if g.query.Before == 0 && g.query.After == 0 {
		return nil, nil
	}
	run := func(from, to int) *[]api.GrepLine {
		list := []api.GrepLine{}
		for i := max(from, 0); i < min(to, len(lines)); i++ {
			list = append(list, api.GrepLine{Line: i + 1, Content: shown(lines[i])})
		}
		return &list
	}
	return run(at-g.query.Before, at), run(at+1, at+1+g.query.After)
}

// shown is a line without its end, and cut when it is very long.
func shown(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}

// line ends the search at the last match that is wanted. Whether there are more is not looked for.
func (g *grep) line(uri skald.URI, n int, line string, more func(*api.GrepMatch)) error {
	if found, err := g.matches(strings.TrimRight(line, "\r\n")); !found {
		return err
	}
	m := api.GrepMatch{URI: uri, Line: n, Content: shown(line), Tags: g.tags}
	if more != nil {
		more(&m)
	}
	g.result.Matches = append(g.result.Matches, m)
	if g.result.Cut = len(g.result.Matches) == g.query.Limit; g.result.Cut {
		return errEnough
	}
	return nil
}

// matches looks through a long line rune by rune, so that the end of the call ends it.
func (g *grep) matches(line string) (bool, error) {
	if err := g.ctx.Err(); err != nil {
		return false, err
	}
	if len(line) <= longLine {
		return g.query.Pattern.MatchString(line), nil
	}
	if start, _ := g.query.Pattern.LiteralPrefix(); !strings.Contains(line, start) {
		return false, nil
	}
	r := patient{ctx: g.ctx, Reader: strings.NewReader(line)}
	return g.query.Pattern.MatchReader(&r), g.ctx.Err()
}

// patient reads runes until its context ends.
type patient struct {
	*strings.Reader
	ctx  context.Context
	read int
}

func (p *patient) ReadRune() (r rune, size int, err error) {
	if p.read++; p.read%1024 == 0 {
		if err := p.ctx.Err(); err != nil {
			return 0, 0, err
		}
	}
	return p.Reader.ReadRune()
}

// session matches what people read of a session: its turns and its overviews.
func (g *grep) session(n view.Node) error {
	p, _ := g.Place(n.URI)
	ref := skald.SessionRef{Scope: p.Scope, ID: p.Path[1]}
	messages, overview := n.Name == "messages.jsonl", n.Name == tree.OverviewName
	switch {
	case overview:
		b, err := g.Read(n.URI)
		if err != nil {
			return err
		}
		g.result.Files++
		return g.text(n.URI, string(b))
	case messages && len(p.Path) == 3:
		s, err := g.Tx.Session(ref)
		if err != nil {
			return err
		}
		return g.turns(ref, n.URI, s.OpenFrom, s.LastSeq, 1)
	case messages:
		index, _ := skald.ParseArchiveID(p.Path[3])
		a, err := g.Tx.Archive(ref, index)
		if err != nil {
			return err
		}
		return g.turns(ref, n.URI, a.From, a.To, a.From)
	case len(p.Path) > 2 && p.Path[2] == "turns":
		t, err := n.URI.Resolve(p.Scope.Account)
		if err != nil {
			return err
		}
		return g.turns(ref, n.URI, t.From, t.To, t.From)
	}
	return nil
}

// turns matches a run of turns, which stand in a file whose first line is the turn first.
func (g *grep) turns(ref skald.SessionRef, uri skald.URI, from, to, first int64) error {
	if from > to {
		return nil
	}
	g.result.Files++
	for ; from <= to; from += turnPage {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		turns, err := g.Tx.Turns(ref, skald.TurnQuery{From: from, To: min(to, from+turnPage-1)})
		if err != nil {
			return err
		}
		for _, t := range turns {
			if t.Forgotten || t.Purged {
				continue
			}
			for line := range strings.Lines(words(t)) {
				if err := g.line(uri, int(t.Seq-first)+1, line, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// words is what a person reads of a turn.
func words(t skald.Turn) string {
	if m, err := message.Parse(t.Raw); err == nil {
		return m.Text()
	}
	return strings.ToValidUTF8(string(t.Raw), "\uFFFD")
}

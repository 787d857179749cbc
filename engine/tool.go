package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/strategy"
)

// Tool runs one of the tools offered to the model (000-120 to 000-124, 001-070). What the model did wrong comes back as text for the
// model, not as an error of the call.
func (e *Engine) Tool(ctx context.Context, r skald.ToolRequest) (skald.ToolAnswer, error) {
	run, ok := tools[r.Tool]
	if !ok {
		return refuse(skald.Invalid("tool", "tool", "%q is not known", r.Tool)), nil
	}
	c := &toolCall{e: e, r: r, set: e.settings(r.Settings), id: identity(r.Request), now: e.now(r.Request)}
	if err := c.parse(); err != nil {
		return refuse(err), nil
	}
	answer, err := run(ctx, c)
	switch skald.KindOf(err) {
	case "":
		return answer, nil
	case skald.KindInvalid, skald.KindNotFound, skald.KindPermission, skald.KindConflict, skald.KindUnsupported:
		return refuse(err), nil
	}
	e.note("tool."+r.Tool, r.Session.SessionID, err)
	return skald.ToolAnswer{}, err
}

var tools = map[string]func(context.Context, *toolCall) (skald.ToolAnswer, error){
	"memory_recall":      toolRecall,
	"memory_recall_auto": toolRecall,
	"memory_expand":      toolExpand,
	"memory_store":       toolStore,
	"memory_forget":      toolForget,
	"ov_archive_search":  toolArchiveSearch,
	"ov_archive_expand":  toolArchiveExpand,
	"ov_search":          toolFind,
	"ov_read":            toolRead,
	"ov_multi_read":      toolReadMany,
	"ov_list":            toolList,
	"ov_recall_trace":    toolTrace,
}

// toolCall is one call with its arguments.
type toolCall struct {
	e    *Engine
	r    skald.ToolRequest
	set  settings
	id   skald.Identity
	now  time.Time
	args toolArgs
}

// toolArgs are the arguments of all tools; a tool reads its own.
type toolArgs struct {
	Query   string  `json:"query"`
	Limit   float64 `json:"limit"`
	URI     string  `json:"uri"`
	Summary string  `json:"summaryOrMemoryUri"` // document 000's name of uri
	Text    string  `json:"text"`
	Type    string  `json:"type"`
	Archive string  `json:"archive"`
	ID      string  `json:"archiveId"`

	URIs      []string `json:"uris"`
	Offset    float64  `json:"offset"` // of a file's text, in characters
	Recursive bool     `json:"recursive"`
	Simple    bool     `json:"simple"`
	Turn      string   `json:"turn"`
	Content   bool     `json:"includeContent"`
}

func (c *toolCall) parse() error {
	if len(c.r.Args) > 0 {
		if err := json.Unmarshal(c.r.Args, &c.args); err != nil {
			return skald.Invalid("tool", "args", "not the arguments of %s: %v", c.r.Tool, err)
		}
	}
	c.args.URI = first(c.args.URI, c.args.Summary)
	c.args.Archive = first(c.args.Archive, c.args.ID)
	if c.args.Limit < 0 || c.args.Limit > 1000 || c.args.Limit != float64(int(c.args.Limit)) {
		return skald.Invalid("tool", "limit", "must be a whole number from 1 to 1000")
	}
	if c.args.Offset < 0 || c.args.Offset > 1<<40 || c.args.Offset != float64(int(c.args.Offset)) {
		return skald.Invalid("tool", "offset", "must be a whole number from 0 on")
	}
	return nil
}

// session reads the asking session; one that is not stored yet is judged by its key.
func (c *toolCall) session(tx skald.Tx) (skald.Session, error) {
	ref, err := c.e.ref(c.r.Request, c.set)
	if err != nil {
		return skald.Session{Audience: skald.AudienceDirect, Ref: skald.SessionRef{Scope: c.set.policy.UserScope(c.id)}}, nil
	}
	return open(tx, ref, c.r.Request, c.now)
}

func refuse(err error) skald.ToolAnswer {
	return skald.ToolAnswer{Text: err.Error(), IsError: true, Details: details(map[string]any{"kind": skald.KindOf(err)})}
}

// toolRecall searches on the model's wish; its result looks like the automatic one (000-124).
func toolRecall(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if strings.TrimSpace(c.args.Query) == "" {
		return answer, skald.Invalid("memory_recall", "query", "say what to look for")
	}
	err = c.e.store.View(ctx, func(tx skald.Tx) error {
		s, err := c.session(tx)
		if err != nil {
			return err
		}
		result, err := recall.Recall(ctx, tx, recall.Request{
			Query: c.args.Query, Scopes: c.set.policy.Readable(c.id), Agent: c.id.Agent, Session: s.Ref, Audience: s.Audience,
			Owner: s.Audience == skald.AudienceDirect, Budget: c.set.RecallTokens, Limit: int(c.args.Limit), MaxChars: c.set.MaxChars,
			Threshold: c.set.Threshold / 2, PreferAbstract: c.set.PreferAbstract, Now: c.now, Admit: visibleTo(c.id),
		})
		if err != nil {
			return err
		}
		body, err := strategy.RecallBody(result.Items, "memory_recall", false)
		answer = skald.ToolAnswer{Text: body, Details: details(map[string]any{"count": len(result.Items), "tokens": result.Tokens})}
		return err
	})
	return answer, err
}

func details(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}

func toolExpand(ctx context.Context, c *toolCall) (skald.ToolAnswer, error) {
	if c.args.URI == "" {
		return skald.ToolAnswer{}, skald.Invalid("memory_expand", "uri", "give the uri of a summary, an archive, turns or a memory")
	}
	limit := int(c.args.Limit)
	if limit == 0 {
		limit = c.set.expandResults
	}
	return c.expand(ctx, c.args.URI, limit)
}

func (c *toolCall) expand(ctx context.Context, uri string, limit int) (skald.ToolAnswer, error) {
	var asking skald.Session
	err := c.e.store.View(ctx, func(tx skald.Tx) (err error) {
		asking, err = c.session(tx)
		return err
	})
	if err != nil {
		return skald.ToolAnswer{}, err
	}
	if canonical, err := skald.ParseURI(uri, c.id, c.set.policy); err == nil && isFile(canonical, c.id.Account) {
		c.args.URI = uri
		return toolRead(ctx, c)
	}
	x, err := c.e.expand(ctx, c.id, &asking, c.set.policy, uri, c.args.Query, limit)
	if err != nil {
		return skald.ToolAnswer{}, err
	}
	return skald.ToolAnswer{Text: expansionText(x), Details: details(x)}, nil
}

// expansionText shows an expansion to the model: source, turns, and what can be read further (000-122).
func expansionText(x skald.Expansion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "source: %s\nsession: %s\n", x.URI, x.Session)
	if x.Archive != "" {
		fmt.Fprintf(&b, "archive: %s\n", x.Archive)
	}
	fmt.Fprintf(&b, "%d of %d turns, quoted as data:\n", len(x.Turns), x.Total)
	for _, t := range x.Turns {
		fmt.Fprintf(&b, "\n[%d] %s %s\n%s\n", t.Sequence, t.Time.Format("2006-01-02 15:04"), t.Speaker, t.Text)
		if t.Cut {
			fmt.Fprintf(&b, "(cut; whole: %s)\n", t.URI)
		}
	}
	if len(x.More) > 0 {
		b.WriteString("\nmore: ")
		for i, uri := range x.More {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(string(uri))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func toolArchiveExpand(ctx context.Context, c *toolCall) (skald.ToolAnswer, error) {
	ref, err := c.e.ref(c.r.Request, c.set)
	if err != nil {
		return skald.ToolAnswer{}, err
	}
	uri := c.args.URI
	if uri == "" {
		index, ok := skald.ParseArchiveID(c.args.Archive)
		if !ok {
			return skald.ToolAnswer{}, skald.Invalid("ov_archive_expand", "archive", "%q is no archive id such as archive_001", c.args.Archive)
		}
		uri = string(ref.ArchiveURI(index))
	}
	limit := int(c.args.Limit)
	if limit == 0 {
		limit = 50
	}
	return c.expand(ctx, uri, limit)
}

func toolArchiveSearch(ctx context.Context, c *toolCall) (skald.ToolAnswer, error) {
	ref, err := c.e.ref(c.r.Request, c.set)
	if err != nil {
		return skald.ToolAnswer{}, err
	}
	if strings.TrimSpace(c.args.Query) == "" {
		return skald.ToolAnswer{}, skald.Invalid("ov_archive_search", "query", "say what to look for")
	}
	uri := ref.URI()
	if index, ok := skald.ParseArchiveID(c.args.Archive); ok {
		uri = ref.ArchiveURI(index)
	}
	return c.expand(ctx, string(uri), max(int(c.args.Limit), c.set.expandResults))
}

// toolStore writes a memory at once (000-120, 000-181).
func toolStore(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if strings.TrimSpace(c.args.Text) == "" {
		return answer, skald.Invalid("memory_store", "text", "say what to remember")
	}
	err = c.e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := c.session(tx)
		if err != nil {
			return err
		}
		note := memory.Note{Text: c.args.Text, Type: skald.MemoryType(c.args.Type), Audience: s.Audience}
		if s.Ref.ID != "" { // the exchange under way: its first turn is stored when it ends
			note.Session, note.From, note.To = s.Ref, s.LastSeq+1, s.LastSeq+1
			if err := tx.PutSession(s); err != nil {
				return err
			}
		}
		m, err := memory.Store(tx, memory.ScopesOf(c.set.policy, c.id), note, c.now)
		if err != nil {
			return err
		}
		answer = skald.ToolAnswer{Text: "Stored as " + string(m.URI), Details: details(map[string]any{"uri": m.URI, "type": m.Type})}
		return nil
	})
	return answer, err
}

// forgetSure is the score at which the one best candidate of a query is taken to be meant.
const forgetSure = 0.5

// toolForget takes a memory and the turns behind it out of recall, search, profile and summaries (design, "Forgetting").
func toolForget(ctx context.Context, c *toolCall) (answer skald.ToolAnswer, err error) {
	if c.args.URI == "" && strings.TrimSpace(c.args.Query) == "" {
		return answer, skald.Invalid("memory_forget", "uri", "give the uri of a memory, or a query that finds one")
	}
	err = c.e.store.Update(ctx, func(tx skald.Tx) error {
		uri, choices, err := c.meant(ctx, tx)
		if err != nil {
			return err
		}
		if uri == "" {
			answer = skald.ToolAnswer{Text: choices}
			return nil
		}
		if err := c.mayForget(tx, uri); err != nil {
			return err
		}
		receipt, err := c.e.forget(tx, c.set.policy.Readable(c.id), uri, c.now)
		if err != nil {
			return err
		}
		answer = skald.ToolAnswer{Text: forgotten(receipt), Details: details(receipt)}
		return nil
	})
	return answer, err
}

// mayForget keeps other people's sessions from the owner's memories (I9).
func (c *toolCall) mayForget(tx skald.Tx, uri skald.URI) error {
	s, err := c.session(tx)
	if err != nil || s.Audience == skald.AudienceDirect {
		return err
	}
	target, err := uri.Resolve(c.id.Account)
	if err != nil {
		return err
	}
	m, err := tx.Memory(target.Scope, uri)
	if err == nil && m.Audience != s.Audience {
		return &skald.Error{Op: "memory_forget", URI: string(uri), Kind: skald.KindPermission, Err: errAudience}
	}
	return err
}

// forgotten tells the model what was removed.
func forgotten(r memory.Receipt) string {
	return fmt.Sprintf("Forgotten: %s, with %d memories, %d source turns and lines of %d summaries. The turns can still be read by uri.",
		r.URI, len(r.Memories), len(r.Turns), len(r.Archives))
}

// meant finds the memory that the model wants forgotten: by uri, or the one strong candidate of a query; otherwise it lists what
// could be meant.
func (c *toolCall) meant(ctx context.Context, tx skald.Tx) (skald.URI, string, error) {
	if c.args.URI != "" {
		uri, err := skald.ParseURI(c.args.URI, c.id, c.set.policy)
		return uri, "", err
	}
	s, err := c.session(tx)
	if err != nil {
		return "", "", err
	}
	result, err := c.e.search(ctx, tx, c.id, c.set.policy, s, skald.FindQuery{Query: c.args.Query, Limit: 5, Kinds: []skald.DocKind{skald.DocMemory, skald.DocTurn}})
	if err != nil {
		return "", "", err
	}
	items := result.Items
	switch {
	case len(items) == 0:
		return "", "", skald.NotFound("memory_forget", c.args.Query)
	case items[0].Score >= forgetSure && (len(items) == 1 || items[1].Score < items[0].Score*0.8):
		return items[0].URI, "", nil
	}
	var b strings.Builder
	b.WriteString("Several could be meant; call memory_forget with the uri of one:\n")
	for _, item := range items {
		fmt.Fprintf(&b, "- %s: %s\n", item.URI, item.Text)
	}
	return "", b.String(), nil
}

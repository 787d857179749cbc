package api

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// ToolResults reads the long results of tools. They are no copies: the turns hold them, and the session's context shows a stub.
type ToolResults interface {
	// ListToolResults lists the newest of those that are shown as stubs, in the order of the session, of one tool or ("") of all.
	ListToolResults(ctx context.Context, id skald.Identity, session, tool string, limit int) ([]ToolResult, error)
	// ToolResult reads one, with its whole text. KindNotFound also when the session is not known.
	ToolResult(ctx context.Context, id skald.Identity, session, result string) (ToolResult, string, error)
}

// ToolResult describes a result. Characters are Unicode code points.
type ToolResult struct {
	ID         string    `json:"tool_result_id"`
	Session    string    `json:"session_id"`
	Message    string    `json:"message_id"`
	Tool       string    `json:"tool_id"`
	Name       string    `json:"tool_name"`
	User       string    `json:"user_id"`
	Peer       *string   `json:"peer_id"`
	CreatedAt  string    `json:"created_at"`
	Chars      int       `json:"original_chars"`
	Preview    int       `json:"preview_chars"`
	SHA256     string    `json:"sha256"`
	MIME       string    `json:"mime_type"`
	Kind       string    `json:"synopsis_kind"`
	Synopsis   Synopsis  `json:"synopsis"`
	Storage    skald.URI `json:"storage_uri"`
	Output     skald.URI `json:"output_uri"`
	OffsetUnit string    `json:"offset_unit"`
}

const offsetUnit = "unicode_code_point"

func (h *Handler) toolResults(mux *http.ServeMux) {
	const list = "GET /api/v1/sessions/{id}/tool-results"
	if h.deps.Results == nil {
		notServed(mux, list, list+"/{result}", list+"/{result}/search")
		return
	}
	full(mux, list, h.listToolResults)
	full(mux, list+"/{result}", h.readToolResult)
	full(mux, list+"/{result}/search", h.searchToolResult)
}

func (h *Handler) listToolResults(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	q := query{r: r}
	tool, limit := q.text("tool_name"), q.int("limit", 50, 1, maxInt)
	if err := q.err(); err != nil {
		return nil, err
	}
	list, err := h.deps.Results.ListToolResults(r.Context(), id, session, tool, limit)
	if err != nil {
		return nil, noSession(err, session)
	}
	return map[string]any{"tool_results": wire.List(list)}, nil
}

const maxInt = int(^uint(0) >> 1)

func (h *Handler) readToolResult(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	offset, limit, metadata := q.int("offset", 0, 0, maxInt), q.int("limit", 20_000, -maxInt, maxInt), true
	if q.text("include_metadata") != "" {
		metadata = q.bool("include_metadata")
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	if limit < -1 {
		return nil, &wire.Failure{Kind: skald.KindInvalid, Field: "limit", Bare: true, Message: "limit must be -1 or greater than or equal to 0",
			Details: map[string]any{"field": "limit", "value": limit}}
	}
	found, text, err := h.toolResult(r, id)
	if err != nil {
		return nil, err
	}
	content, more := codePoints(text, offset, limit)
	out := map[string]any{
		"tool_result_id": found.ID, "content": content, "offset": offset, "limit": limit, "offset_unit": offsetUnit,
		"total_chars": found.Chars, "has_more": more,
	}
	if metadata {
		out["metadata"] = found
	}
	return out, nil
}

// resultID is what an id of a result looks like; see ResultOf.
var resultID = regexp.MustCompile(`^tr_[A-Za-z0-9_.-]{1,160}$`)

func (h *Handler) toolResult(r *http.Request, id skald.Identity) (ToolResult, string, error) {
	session, err := sessionID(r)
	if err != nil {
		return ToolResult{}, "", err
	}
	name := r.PathValue("result")
	if !resultID.MatchString(name) {
		return ToolResult{}, "", &wire.Failure{Kind: skald.KindInvalid, Field: "tool_result_id", Message: "Invalid tool_result_id",
			Details: map[string]any{"tool_result_id": name}}
	}
	found, text, err := h.deps.Results.ToolResult(r.Context(), id, session, name)
	if skald.KindOf(err) == skald.KindNotFound {
		return found, "", &wire.Failure{Kind: skald.KindNotFound, Message: "Tool result not found: " + name,
			Details: map[string]any{"resource": name, "type": "tool_result"}}
	}
	return found, text, err
}

// codePoints cuts limit code points (-1: all) out of a text from offset on, and tells whether some come after them.
func codePoints(text string, offset, limit int) (cut string, more bool) {
	from := byteOffset(text, offset)
	if limit < 0 {
		return text[from:], false
	}
	n := byteOffset(text[from:], limit)
	return text[from : from+n], from+n < len(text)
}

// byteOffset is where the n-th code point begins; the end when there are not so many.
func byteOffset(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// resultMatch is a place where a result has what was searched for.
type resultMatch struct {
	Offset  int    `json:"offset"`
	Unit    string `json:"offset_unit"`
	Snippet string `json:"snippet"`
}

// searchToolResult finds a text literally, upper and lower case apart. Matches do not overlap.
func (h *Handler) searchToolResult(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	limit, around := q.int("limit", 20, 1, maxInt), q.int("context_chars", 300, 0, maxInt)
	values := r.URL.Query()
	switch needle := values.Get("q"); {
	case !values.Has("q"):
		q.add([]string{"query", "q"}, "missing", "Field required")
	case needle == "":
		q.add([]string{"query", "q"}, "string_too_short", "String should have at least 1 character")
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	found, text, err := h.toolResult(r, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tool_result_id": found.ID, "matches": matches(text, values.Get("q"), limit, around)}, nil
}

func matches(text, needle string, limit, around int) []resultMatch {
	out := []resultMatch{}
	at, offset := 0, 0 // bytes, and the code points before them
	for len(out) < limit {
		i := strings.Index(text[at:], needle)
		if i < 0 {
			break
		}
		offset += utf8.RuneCountInString(text[at : at+i])
		at += i
		end := at + len(needle)
		before := min(around, offset)
		from := at
		for range before {
			_, size := utf8.DecodeLastRuneInString(text[:from])
			from -= size
		}
		to := end + byteOffset(text[end:], around)
		out = append(out, resultMatch{offset, offsetUnit, text[from:to]})
		offset += utf8.RuneCountInString(needle)
		at = end
	}
	return out
}

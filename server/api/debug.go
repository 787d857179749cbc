package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

func (h *Handler) debug(mux *http.ServeMux) {
	full(mux, "GET /api/v1/debug/health", func(_ *http.Request, id skald.Identity) (any, error) {
		return map[string]any{"healthy": true, "account_id": id.Account}, nil
	})
	full(mux, "GET /api/v1/debug/vector/scroll", h.scrollIndex)
	full(mux, "GET /api/v1/debug/vector/count", h.countIndex)
}

// scrollIndex pages through the records of the index.
func (h *Handler) scrollIndex(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	limit, under, cursor := q.int("limit", 100, 1, 1000), q.text("uri"), q.text("cursor")
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		q.add([]string{"query", "cursor"}, "value_error", "is no cursor of an earlier page")
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	list, err := h.deps.System.IndexRecords(r.Context(), id, under, skald.URI(after), limit)
	if err != nil {
		return nil, err
	}
	var next any
	if len(list) == limit {
		next = base64.RawURLEncoding.EncodeToString([]byte(list[limit-1].URI))
	}
	records := make([]map[string]any, len(list))
	for i, m := range list {
		records[i] = map[string]any{
			"id": recordKey(string(m.URI), m.Level), "uri": m.URI, "context_type": m.Type, "level": m.Level, "abstract": m.Abstract,
			"account_id": id.Account, "updated_at": timestamp(m.Updated),
		}
	}
	return map[string]any{"records": records, "next_cursor": next}, nil
}

func (h *Handler) countIndex(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	if filter := q.text("filter"); filter != "" {
		var f map[string]any
		if json.Unmarshal([]byte(filter), &f) != nil {
			return nil, &wire.Failure{Kind: skald.KindInvalid, Code: "INVALID_FILTER", Field: "filter", Bare: true, Message: "Invalid filter JSON"}
		}
		if len(f) > 0 {
			return nil, unsupported("Skald counts the records below a uri; a filter is not applied to a count")
		}
	}
	list, err := h.deps.System.IndexRecords(r.Context(), id, q.text("uri"), "", 0)
	if err != nil {
		return nil, err
	}
	return map[string]int{"count": len(list)}, nil
}

// relative is the path of a URI below another, "" for the same.
func relative(root, uri skald.URI) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(uri), strings.TrimSuffix(string(root), "/")), "/")
}

func recordKey(path string, level int) string {
	if path == "" {
		path = "."
	}
	return fmt.Sprintf("%s#level=%d", path, level)
}

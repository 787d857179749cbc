package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// observation is a component's state: a table for people, or the same as values with ?format=json.
type observation struct {
	Name    string `json:"name"`
	Healthy bool   `json:"is_healthy"`
	Errors  bool   `json:"has_errors"`
	Status  any    `json:"status"`

	text   string
	values any
}

// observers are the components, in the order of /observer/system.
var observers = []struct {
	name    string
	observe func(f Figures, queues []Queue) observation
}{
	{"queue", observeQueues}, {"vikingdb", observeIndex}, {"models", observeModels}, {"lock", observeLocks},
	{"retrieval", observeRecall}, {"filesystem", observeStore},
}

func (h *Handler) observers(mux *http.ServeMux) {
	full(mux, "GET /api/v1/observer/{name}", h.observe)
}

func (h *Handler) observe(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	format := q.oneOf("format", "table", "json")
	if err := q.err(); err != nil {
		return nil, err
	}
	f, err := h.deps.System.Figures(r.Context(), id)
	if err != nil {
		return nil, err
	}
	queues, err := h.deps.System.Queues(r.Context(), id)
	if err != nil {
		return nil, err
	}
	name, all := r.PathValue("name"), map[string]observation{}
	healthy, faults := true, []string{}
	for _, o := range observers {
		seen := o.observe(f, queues)
		if seen.Name, seen.Status = o.name, seen.text; format == "json" {
			seen.Status = seen.values
		}
		if o.name == name {
			return seen, nil
		}
		if all[o.name] = seen; !seen.Healthy || seen.Errors {
			faults = append(faults, o.name+" has errors")
		}
		healthy = healthy && seen.Healthy
	}
	if name != "system" {
		return nil, &wire.Failure{Kind: skald.KindNotFound, Message: "Not Found", Bare: true}
	}
	return map[string]any{"is_healthy": healthy, "errors": faults, "components": all}, nil
}

func observeQueues(_ Figures, queues []Queue) observation {
	total := Queue{Name: "TOTAL"}
	rows := [][]string{{"Queue", "Pending", "In Progress", "Processed", "Requeued", "Errors", "Total"}}
	for _, q := range append(queues[:len(queues):len(queues)], Queue{}) {
		if q.Name == "" {
			q = total
		} else {
			total.Pending, total.Running, total.Processed = total.Pending+q.Pending, total.Running+q.Running, total.Processed+q.Processed
			total.Requeued, total.Errors, total.Total = total.Requeued+q.Requeued, total.Errors+q.Errors, total.Total+q.Total
		}
		row := []string{q.Name}
		for _, n := range []int{q.Pending, q.Running, q.Processed, q.Requeued, q.Errors, q.Total} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	return observation{Healthy: true, Errors: total.Errors > 0, text: asciiTable(rows), values: map[string]any{
		"queues": queues, "summary": map[string]int{"pending": total.Pending, "in_progress": total.Running, "processed": total.Processed,
			"requeued": total.Requeued, "errors": total.Errors, "total": total.Total},
	}}
}

func observeIndex(f Figures, _ []Queue) observation {
	return observation{Healthy: f.Store.Writing, text: pairs(
		"Account", f.Account, "Backend", "skald/"+f.Store.Engine, "Collection", "context", "Documents", f.Docs,
	), values: map[string]any{"account": f.Account, "backend": "skald/" + f.Store.Engine, "documents": f.Docs}}
}

func observeModels(f Figures, _ []Queue) observation {
	return observation{Healthy: true, text: pairs(
		"Account", f.Account, "Summaries", "builtin (extractive)", "Search", "lexical (builtin)",
		"VLM", "not_configured", "Embedding", "not_configured",
	), values: map[string]any{"summaries": "builtin", "search": "lexical", "vlm": "not_configured", "embedding": "not_configured"}}
}

// observeLocks: nothing waits for lock files here. What is held are the leases of jobs.
func observeLocks(f Figures, _ []Queue) observation {
	return observation{Healthy: true, text: pairs("Active locks", f.Leases, "Waiting locks", 0),
		values: map[string]any{"active": f.Leases, "waiting": 0}}
}

func observeRecall(f Figures, _ []Queue) observation {
	return observation{Healthy: true, text: pairs("Recalls cut by their deadline", f.Skips), values: map[string]any{"deadline_misses": f.Skips}}
}

func observeStore(f Figures, _ []Queue) observation {
	s := f.Store
	return observation{Healthy: s.Writing, Errors: len(f.Faults) > 0, text: pairs(
		"Engine", s.Engine, "Schema", s.Schema, "Bytes", s.Bytes, "Free bytes", s.Free, "Turns", s.Turns, "Sessions", f.Sessions,
		"Recent faults", len(f.Faults),
	), values: map[string]any{"engine": s.Engine, "schema": s.Schema, "bytes": s.Bytes, "free_bytes": s.Free, "turns": s.Turns,
		"sessions": f.Sessions, "recent_faults": len(f.Faults)}}
}

// pairs writes names and values, one pair a line.
func pairs(list ...any) string {
	var b strings.Builder
	for i := 0; i < len(list); i += 2 {
		fmt.Fprintf(&b, "%v: %v\n", list[i], list[i+1])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// asciiTable draws rows, of which the first is the head and the last the sum.
func asciiTable(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	rule := func() {
		for _, w := range widths {
			b.WriteString("+" + strings.Repeat("-", w+2))
		}
		b.WriteString("+\n")
	}
	rule()
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", widths[i], cell)
		}
		b.WriteString("|\n")
		if n == 0 || n == len(rows)-1 {
			rule()
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

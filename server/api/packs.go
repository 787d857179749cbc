package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	skald "github.com/skald-engine/skald"
)

// maxPack is the largest pack that is taken, in bytes.
const maxPack = 512 << 20

func (h *Handler) packs(mux *http.ServeMux) {
	if h.deps.Files == nil {
		notServed(mux, "POST /api/v1/pack/{action}")
		return
	}
	full(mux, "POST /api/v1/pack/export", h.exportPack)
	full(mux, "POST /api/v1/pack/backup", h.backupPack)
	full(mux, "POST /api/v1/pack/import", h.importPack)
	full(mux, "POST /api/v1/pack/restore", h.restorePack)
}

type exportBody struct {
	URI     string `json:"uri"`
	Vectors bool   `json:"include_vectors"` // ignored: a reader makes its own
}

func (h *Handler) exportPack(r *http.Request, id skald.Identity) (any, error) {
	var b exportBody
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if err := need("uri", b.URI); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := h.deps.Files.Export(r.Context(), id, b.URI, &out); err != nil {
		return nil, err
	}
	return zipped(path.Base(strings.TrimRight(b.URI, "/")), out.Bytes()), nil
}

func zipped(name string, body []byte) attachment {
	return attachment{name: name + ".ovpack", media: "application/zip", body: body}
}

func (h *Handler) backupPack(r *http.Request, id skald.Identity) (any, error) {
	if err := admin(id); err != nil {
		return nil, err
	}
	var b exportBody
	if err := decode(r, &b, true); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := h.deps.Files.Backup(r.Context(), id, &out); err != nil {
		return nil, err
	}
	return zipped("openviking-backup", out.Bytes()), nil
}

func admin(id skald.Identity) error {
	if id.Rank != skald.RankAdmin && id.Rank != skald.RankRoot {
		return skald.E("pack", skald.KindPermission, "the backup of an account is its admin's to make and to restore")
	}
	return nil
}

type importBody struct {
	Upload     string `json:"temp_file_id"`
	Parent     string `json:"parent"`
	OnConflict string `json:"on_conflict"`
	VectorMode string `json:"vector_mode"` // ignored: the index is made anew
}

func (h *Handler) importPack(r *http.Request, id skald.Identity) (any, error) {
	b, err := readImport(r)
	if err == nil {
		err = need("parent", b.Parent)
	}
	if err != nil {
		return nil, err
	}
	return h.unpack(r, id, b, func(pack []byte) (skald.URI, error) {
		return h.deps.Files.Import(r.Context(), id, b.Parent, b.OnConflict, bytes.NewReader(pack), int64(len(pack)))
	})
}

func (h *Handler) restorePack(r *http.Request, id skald.Identity) (any, error) {
	if err := admin(id); err != nil {
		return nil, err
	}
	b, err := readImport(r)
	if err != nil {
		return nil, err
	}
	return h.unpack(r, id, b, func(pack []byte) (skald.URI, error) {
		return skald.Root, h.deps.Files.Restore(r.Context(), id, b.OnConflict, bytes.NewReader(pack), int64(len(pack)))
	})
}

func readImport(r *http.Request) (b importBody, err error) {
	if err := decode(r, &b, false); err != nil {
		return b, err
	}
	var v issues
	if b.Upload == "" {
		v.add(inBody("temp_file_id"), "missing", "Field required")
	}
	switch b.OnConflict {
	case "":
		b.OnConflict = ConflictFail
	case ConflictFail, ConflictOverwrite, ConflictSkip:
	default:
		v.add(inBody("on_conflict"), "literal_error", "Input should be 'fail', 'overwrite' or 'skip'")
	}
	switch b.VectorMode {
	case "", "auto", "recompute":
	case "require":
		return b, unsupported("vector_mode \"require\": the vectors of a pack are another model's; Skald makes its own")
	default:
		v.add(inBody("vector_mode"), "literal_error", "Input should be 'auto', 'recompute' or 'require'")
	}
	return b, v.err()
}

func (h *Handler) unpack(r *http.Request, id skald.Identity, b importBody, fn func([]byte) (skald.URI, error)) (any, error) {
	if h.deps.Uploaded == nil {
		return nil, unsupported("uploads are not served")
	}
	pack, _, err := h.deps.Uploaded.Uploaded(r.Context(), id, b.Upload, maxPack)
	if err != nil {
		return nil, err
	}
	uri, err := fn(pack)
	return map[string]any{"uri": uri}, err
}

// Lines are messages as a session's messages.jsonl holds them, in OpenViking's form.
func Lines(session string, list []HostMessage) ([]byte, error) {
	var b bytes.Buffer
	for _, m := range FromHost(session, list) {
		line, err := json.Marshal(m)
		if err != nil {
			return nil, skald.E("api.lines", skald.KindInternal, "%w", err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// ParseLines reads such a file, with the ids of its messages kept.
func ParseLines(ctx context.Context, lines []byte) (list []Message, err error) {
	n := 0
	for line := range bytes.Lines(lines) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var m Message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, skald.Invalid("api.lines", "messages.jsonl", "line %d is no message: %w", n, err)
		}
		if m.Parts == nil { // the form of early versions
			var old struct {
				Content json.RawMessage `json:"content"`
			}
			_ = json.Unmarshal(line, &old) // it was read above
			m.Parts = []Part{textPart(stringForm(old.Content))}
		}
		if m.ID != "" && m.Role != "" {
			list = append(list, m)
		}
	}
	return list, ctx.Err()
}

package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// UploadPath is where files are uploaded. Its limits are not those of other calls.
const UploadPath = "/api/v1/resources/temp_upload"

// uploadTime is how long the body of an upload may take.
const uploadTime = 30 * time.Minute

// Uploads keeps files until they are imported.
type Uploads interface {
	// PutUpload keeps a file for its uploader and returns its id. KindInvalid when it is too large.
	PutUpload(ctx context.Context, id skald.Identity, name string, r io.Reader) (string, error)
	MaxUpload() int64
}

func (h *Handler) uploads(mux *http.ServeMux) {
	mux.HandleFunc("POST "+UploadPath, func(w http.ResponseWriter, r *http.Request) {
		id, ok := wire.Caller(r.Context())
		if !ok {
			wire.WriteError(w, r, skald.E("http.access", skald.KindUnauth, "no identity"))
			return
		}
		// A slow line must not be cut off like a short call; a connection without deadlines is as good.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(uploadTime))
		key, err := h.upload(r, id)
		if err != nil {
			wire.WriteError(w, r, err)
			return
		}
		wire.WriteOK(w, r, map[string]any{"temp_file_id": key}, true)
	})
}

// upload streams the part "file" of a multipart body to disk.
func (h *Handler) upload(r *http.Request, id skald.Identity) (string, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return "", invalid(inBody("file"), "missing", "Field required (the body must be multipart/form-data)")
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return "", invalid(inBody("file"), "missing", "Field required")
		}
		if err != nil {
			return "", uploadFault(err)
		}
		if part.FormName() != "file" {
			continue // telemetry, upload_mode: every upload is kept where the daemon keeps its data
		}
		if part.FileName() == "" {
			return "", invalid(inBody("file"), "value_error", "the file has no name")
		}
		key, err := h.deps.Resources.PutUpload(context.WithoutCancel(r.Context()), id, part.FileName(), part)
		if err != nil {
			return "", uploadFault(err)
		}
		return key, nil
	}
}

// uploadFault tells a body that is too large or cut off from a fault of ours.
func uploadFault(err error) error {
	var large *http.MaxBytesError
	var own *skald.Error
	switch {
	case errors.As(err, &large):
		return &wire.Failure{Kind: skald.KindInvalid, Field: "file", Message: wire.TooLarge(large.Limit).Message}
	case errors.As(err, &own):
		return err
	}
	return &wire.Failure{Kind: skald.KindInvalid, Field: "file", Message: "the body could not be read to its end: " + err.Error()}
}

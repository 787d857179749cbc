package chatgpt

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest/record"
)

const (
	maxConversation = 256 << 20 // bytes of one conversation; it is read as a whole
	maxImage        = 8 << 20   // bytes of an image
)

// export is an opened export.
type export struct {
	path   string
	files  []record.File // with conversations
	others []record.File
}

func openExport(ctx context.Context, p string) (export, error) {
	e := export{path: p}
	files, err := record.Archive(ctx, op, p)
	if err != nil {
		return e, err
	}
	for _, f := range files {
		if conversationsFile(f.Name) || len(files) == 1 && strings.HasSuffix(f.Name, ".json") {
			e.files = append(e.files, f)
		} else {
			e.others = append(e.others, f)
		}
	}
	if len(e.files) == 0 {
		return e, skald.E(op, skald.KindNotFound, "%s holds no conversations.json: give a ChatGPT data export", p)
	}
	return e, nil
}

// conversationsFile tells the files that hold conversations; large exports number them.
func conversationsFile(name string) bool {
	base := path.Base(name)
	return base == "conversations.json" || strings.HasPrefix(base, "conversations-") && strings.HasSuffix(base, ".json")
}

var errNotExported = errors.New("it is not in the export")

// asset finds an image of the export by the pointer in its message (file-service://ID, sediment://ID).
func (e export) asset(pointer string) (kind, data string, err error) {
	_, id, _ := strings.Cut(pointer, "://")
	if id == "" {
		return "", "", errNotExported
	}
	for _, f := range e.others {
		if rest, ok := strings.CutPrefix(path.Base(f.Name), id); ok && (rest == "" || strings.ContainsRune("-_.", rune(rest[0]))) {
			return image(f)
		}
	}
	return "", "", errNotExported
}

func image(f record.File) (kind, data string, err error) {
	in, err := f.Open()
	if err != nil {
		return "", "", errors.New("it cannot be read")
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxImage+1))
	switch {
	case err != nil:
		return "", "", errors.New("it cannot be read")
	case len(b) > maxImage:
		return "", "", fmt.Errorf("it has more than %d MB", maxImage>>20)
	}
	kind = mime.TypeByExtension(path.Ext(f.Name))
	if !strings.HasPrefix(kind, "image/") {
		kind = "image/png"
	}
	return kind, base64.StdEncoding.EncodeToString(b), nil
}

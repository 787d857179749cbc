package fetch

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald"
)

// Fetcher fetches.
type Fetcher struct {
	Guard  Guard
	Limits Limits
	Temp   string // folder for temporary files, "" the system's
	Agent  string // User-Agent
}

// FromWeb fetches an address: the file or page it names, the members of a zip archive, the files of a repository.
func (f Fetcher) FromWeb(ctx context.Context, a Address, filter Filter) (*Source, error) {
	s, err := f.source(a.Name, a.Shown())
	if err != nil {
		return nil, err
	}
	if a.Notice != "" {
		s.warn("%s", a.Notice)
	}
	if a.Git {
		err = f.git(ctx, s, a, filter)
	} else {
		err = f.page(ctx, s, a, filter)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// FromFile takes a file of this machine that a caller uploaded under a name. A zip archive becomes a folder.
func (f Fetcher) FromFile(path, name string, filter Filter) (*Source, error) {
	s, err := f.source(CleanName(stem(name)), name)
	if err != nil {
		return nil, err
	}
	if err := f.disk(s, path, name, "", filter); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (f Fetcher) source(name, origin string) (*Source, error) {
	dir, err := os.MkdirTemp(f.Temp, "import-*")
	if err != nil {
		return nil, skald.E("fetch", skald.KindUnavailable, "make a temporary folder: %w", err)
	}
	return &Source{Name: name, Origin: origin, dir: dir}, nil
}

// disk lists a file that lies on this machine: itself, or what is in it.
func (f Fetcher) disk(s *Source, file, name, media string, filter Filter) error {
	info, err := os.Stat(file)
	if err != nil {
		return skald.E("fetch", skald.KindInternal, "%w", err)
	}
	if media == "application/zip" || media == "application/x-zip-compressed" || strings.EqualFold(path.Ext(name), ".zip") {
		return unzip(s, file, filter, f.Limits)
	}
	clean := CleanName(name)
	if clean != name {
		s.warn("%q is called %q", name, clean)
	}
	s.Single = true
	s.Files = []File{{Path: clean, Size: info.Size(), Media: media, open: func() (io.ReadCloser, error) { return os.Open(file) }}}
	return nil
}

// page downloads one address to disk.
func (f Fetcher) page(ctx context.Context, s *Source, a Address, filter Filter) error {
	shown := a.Shown()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL.String(), nil)
	if err != nil {
		return skald.Invalid("fetch.get", "path", "%s is not an address", shown)
	}
	r.Header.Set("User-Agent", f.Agent)
	r.Header.Set("Accept", "text/markdown,text/html;q=0.9,*/*;q=0.8")
	answer, err := f.Guard.Client().Do(r)
	if err != nil {
		return cause(shown, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return status(shown, answer.StatusCode)
	}
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	file := filepath.Join(s.dir, "download")
	if err := download(file, answer.Body, f.Limits.Download); err != nil {
		return cause(shown, err)
	}
	if err := f.disk(s, file, pageName(answer, a, media), media, filter); err != nil {
		return err
	}
	if s.Single {
		final := *answer.Request.URL
		final.User = nil
		s.Files[0].URL = final.String()
	}
	return nil
}

// status is a server's refusal: ours to report, and worth another attempt when the server itself says so.
func status(shown string, code int) error {
	kind := skald.KindInvalid
	switch {
	case code == http.StatusNotFound || code == http.StatusGone:
		kind = skald.KindNotFound
	case code == http.StatusTooManyRequests || code >= 500:
		kind = skald.KindUnavailable
	}
	return &skald.Error{Op: "fetch.get", Field: "path", Kind: kind, Err: errText(shown + " answered " + http.StatusText(code))}
}

func download(file string, body io.Reader, most int64) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(body, most+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if n > most {
		return skald.Invalid("fetch.get", "path", "the file has more than %d bytes", most)
	}
	return nil
}

// extensions of media types whose files come without one.
var extensions = map[string]string{
	"text/html": ".html", "application/xhtml+xml": ".html", "text/plain": ".txt", "text/markdown": ".md", "application/pdf": ".pdf",
	"application/json": ".json", "text/csv": ".csv", "application/zip": ".zip", "application/epub+zip": ".epub", "text/xml": ".xml",
	"application/xml": ".xml", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "video/mp4": ".mp4",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
}

// pageName is a name for what an address answered: what the server calls it, else the address's last segment, with the extension of
// its media type where that tells more.
func pageName(answer *http.Response, a Address, media string) string {
	name := ""
	if _, params, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition")); err == nil {
		name = path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	}
	if name == "" || name == "." || name == "/" {
		name = path.Base(answer.Request.URL.Path)
	}
	if name == "" || name == "." || name == "/" {
		name = a.Name
	}
	ext := extensions[media]
	if ext == ".html" && !strings.HasPrefix(strings.ToLower(path.Ext(name)), ".htm") || ext != "" && path.Ext(name) == "" {
		name += ext
	}
	return name
}

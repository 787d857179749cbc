package resource

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// UploadTTL is how long an upload waits to be imported.
const UploadTTL = 12 * time.Hour

const uploadKind = "resource.upload"

// upload is what a record says of an uploaded file. Its scope is the uploader's: nobody else finds it.
type upload struct {
	Name    string    `json:"name"`
	Size    int64     `json:"size"`
	Created time.Time `json:"created"`
	Job     string    `json:"job,omitempty"` // key of the job that imports it
}

var (
	uploadID  = regexp.MustCompile(`^upload_[0-9a-f]{32}(\.[a-z0-9]{1,12})?$`)
	uploadExt = regexp.MustCompile(`^\.[a-z0-9]{1,12}$`)
)

// MaxUpload is the most bytes of an upload.
func (s *Service) MaxUpload() int64 { return s.o.Limits.Download }

// PutUpload keeps a file until it is imported, 12 hours at the longest, and returns its id. KindInvalid when it is too large.
func (s *Service) PutUpload(ctx context.Context, id skald.Identity, name string, r io.Reader) (string, error) {
	const op = "resource.upload"
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", skald.E(op, skald.KindInternal, "%w", err)
	}
	key := "upload_" + hex.EncodeToString(random[:])
	if ext := strings.ToLower(path.Ext(name)); uploadExt.MatchString(ext) {
		key += ext
	}
	file := filepath.Join(s.uploads(), key)
	size, err := s.save(file, r)
	if err != nil {
		return "", errors.Join(err, remove(file))
	}
	u := upload{Name: path.Base(strings.ReplaceAll(name, `\`, "/")), Size: size, Created: s.now()}
	err = s.store.Update(ctx, func(tx skald.Tx) error {
		return tx.PutRecord(skald.Record{Scope: s.o.Policy.UserScope(id), Kind: uploadKind, ID: key, Body: asJSON(u), Updated: u.Created})
	})
	if err != nil {
		return "", errors.Join(err, remove(file))
	}
	return key, nil
}

func (s *Service) save(file string, r io.Reader) (int64, error) {
	const op = "resource.upload"
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return 0, skald.E(op, skald.KindUnavailable, "%w", err)
	}
	n, err := io.Copy(out, io.LimitReader(r, s.MaxUpload()+1))
	if err == nil {
		err = out.Sync() // a restart must find what was acknowledged
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, err
	}
	if n > s.MaxUpload() {
		return 0, skald.Invalid(op, "file", "the file has more than %d bytes", s.MaxUpload())
	}
	return n, nil
}

func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// noUpload is one answer for an id that is malformed, unknown, expired, used, or somebody else's.
func noUpload(key string) error {
	return &skald.Error{Op: "resource.upload", Field: "temp_file_id", Kind: skald.KindPermission,
		Err: errors.New("there is no such upload of yours: it was imported already, or is older than 12 hours, or was never made (" + short(key) + ")")}
}

func short(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// upload finds an upload of an identity that waits.
func (s *Service) upload(tx skald.Tx, scope skald.Scope, key string) (u upload, err error) {
	if !uploadID.MatchString(key) {
		return u, noUpload(key)
	}
	rec, err := tx.Record(scope, uploadKind, key)
	if skald.KindOf(err) == skald.KindNotFound {
		return u, noUpload(key)
	}
	if err != nil {
		return u, err
	}
	if err := json.Unmarshal(rec.Body, &u); err != nil {
		return u, skald.E("resource.upload", skald.KindInternal, "record %s: %w", key, err)
	}
	if u.Job != "" || s.now().Sub(u.Created) > UploadTTL {
		return u, noUpload(key)
	}
	return u, nil
}

// Uploaded returns an upload's content and name, for those who read uploads themselves (skills, packs). It stays until it expires.
// KindInvalid when it has more than most bytes.
func (s *Service) Uploaded(ctx context.Context, id skald.Identity, key string, most int64) ([]byte, string, error) {
	var u upload
	err := s.store.View(ctx, func(tx skald.Tx) (err error) {
		u, err = s.upload(tx, s.o.Policy.UserScope(id), key)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if u.Size > most {
		return nil, "", skald.Invalid("resource.upload", "temp_file_id", "the upload has %d bytes; the most is %d", u.Size, most)
	}
	b, err := os.ReadFile(filepath.Join(s.uploads(), key))
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", noUpload(key)
	}
	return b, u.Name, err
}

// take binds an upload to the job that imports it, so that it is imported once.
func (s *Service) take(tx skald.Tx, scope skald.Scope, key, job string) (upload, error) {
	u, err := s.upload(tx, scope, key)
	if err != nil {
		return u, err
	}
	u.Job = job
	return u, tx.PutRecord(skald.Record{Scope: scope, Kind: uploadKind, ID: key, Body: asJSON(u), Updated: s.now()})
}

// Package release tests what `make release` makes: its contents, its reproducibility, and that it works as a user would get it.
package release

import (
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// Registry is an npm registry on loopback that holds the packages of one folder. It knows no others.
type Registry struct {
	*httptest.Server
	packages map[string]map[string]any // by name: the package's document
	tarballs map[string][]byte         // by file name

	mu      sync.Mutex
	fetched []string
}

// NewRegistry serves the .tgz files of a folder, the npm packages that a release left there. Close it.
func NewRegistry(dir string) (*Registry, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil {
		return nil, err
	}
	r := &Registry{packages: map[string]map[string]any{}, tarballs: map[string][]byte{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	for _, p := range paths {
		if err := r.add(p); err != nil {
			r.Close()
			return nil, fmt.Errorf("%s: %w", filepath.Base(p), err)
		}
	}
	return r, nil
}

func (r *Registry) add(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	manifest, err := manifestOf(path)
	if err != nil {
		return err
	}
	name, version := manifest["name"].(string), manifest["version"].(string)
	short, long := sha1.Sum(data), sha512.Sum512(data)
	file := filepath.Base(path)
	manifest["dist"] = map[string]any{
		"tarball": r.URL + "/-/" + file, "shasum": hex.EncodeToString(short[:]),
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(long[:]),
	}
	r.tarballs[file] = data
	r.packages[name] = map[string]any{
		"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
		"time": map[string]string{version: "2026-01-01T00:00:00.000Z"},
	}
	return nil
}

func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	name := strings.TrimPrefix(path.Clean(req.URL.Path), "/")
	r.mu.Lock()
	r.fetched = append(r.fetched, name)
	r.mu.Unlock()
	if data, ok := r.tarballs[strings.TrimPrefix(name, "-/")]; ok {
		_, _ = w.Write(data)
		return
	}
	name, version, _ := strings.Cut(name, "/")
	document, ok := r.packages[name]
	if !ok {
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if one, ok := document["versions"].(map[string]any)[version]; ok {
		_ = json.NewEncoder(w).Encode(one)
		return
	}
	_ = json.NewEncoder(w).Encode(document)
}

// Fetched lists what was asked for, in order.
func (r *Registry) Fetched() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.fetched...)
}

// manifestOf reads package.json of an npm package.
func manifestOf(path string) (map[string]any, error) {
	files, err := contents(path)
	if err != nil {
		return nil, err
	}
	var manifest map[string]any
	return manifest, json.Unmarshal(files["package/package.json"].Data, &manifest)
}

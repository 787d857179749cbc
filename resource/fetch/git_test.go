package fetch_test

import (
	"fmt"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
)

// repository makes a repository with two branches and serves it as Git hosts do.
func repository(t *testing.T) (url string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here to serve a repository with")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "repo.git")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	write := func(name, body string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", "# Repo\n")
	write("docs/a.md", "# A\n")
	write("docs/sub/b.go", "package b\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	run("init", "-q", "-b", "main")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	run("checkout", "-q", "-b", "feature/x")
	write("docs/new.md", "# New\n")
	run("add", ".")
	run("commit", "-q", "-m", "two")
	run("tag", "-a", "v1", "-m", "v1")
	run("checkout", "-q", "main")
	srv := httptest.NewServer(&cgi.Handler{Path: git, Args: []string{"http-backend"}, Dir: root,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}})
	t.Cleanup(srv.Close)
	return srv.URL + "/repo.git/.git"
}

func TestRepository(t *testing.T) {
	t.Parallel()
	url := repository(t)
	all := []string{"README.md", "docs/a.md", "docs/sub/b.go"}
	for _, c := range []struct {
		ref, sub string
		open     bool
		want     []string
	}{
		{want: all},
		{ref: "main", want: all},
		{ref: "feature/x", want: []string{"README.md", "docs/a.md", "docs/new.md", "docs/sub/b.go"}},
		{ref: "v1", want: []string{"README.md", "docs/a.md", "docs/new.md", "docs/sub/b.go"}},
		{ref: "main/docs", open: true, want: []string{"a.md", "sub/b.go"}},
		{ref: "feature/x/docs/sub", open: true, want: []string{"b.go"}},
		{ref: "main/docs/a.md", open: true, want: []string{"a.md"}},
	} {
		a, err := fetch.Parse(url, "git")
		if err != nil {
			t.Fatal(err)
		}
		a.Ref, a.Open = c.ref, c.open
		temp := t.TempDir()
		s, err := fetch.Fetcher{Guard: fetch.Guard{AllowPrivate: true}, Limits: fetch.DefaultLimits, Temp: temp}.FromWeb(t.Context(), a, fetch.Filter{})
		if err != nil {
			t.Errorf("%q: %v", c.ref, err)
			continue
		}
		if got := paths(s); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, wanted %q", c.ref, got, c.want)
		}
		for _, f := range s.Files {
			b, err := f.Read(1 << 20)
			if err != nil || len(b) == 0 {
				t.Errorf("%q: %s: %q %v", c.ref, f.Path, b, err)
			}
		}
		if len(s.Revision) != 40 || c.ref == "" && !strings.Contains(fmt.Sprint(s.Warnings), "symbolic links") {
			t.Errorf("%q: revision %q, warnings %q", c.ref, s.Revision, s.Warnings)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("temporary files are left: %v", left)
		}
	}
	for _, ref := range []string{"nope", "main/nope"} {
		a, _ := fetch.Parse(url, "git")
		a.Ref, a.Open = ref, true
		_, err := fetch.Fetcher{Guard: fetch.Guard{AllowPrivate: true}, Limits: fetch.DefaultLimits, Temp: t.TempDir()}.FromWeb(t.Context(), a, fetch.Filter{})
		wantKind(t, ref, err, skald.KindNotFound)
	}
	a, _ := fetch.Parse(strings.Replace(url, "repo.git", "none", 1), "git")
	_, err := fetch.Fetcher{Guard: fetch.Guard{AllowPrivate: true}, Limits: fetch.DefaultLimits, Temp: t.TempDir()}.FromWeb(t.Context(), a, fetch.Filter{})
	wantKind(t, "no repository", err, skald.KindNotFound)
	tight := fetch.DefaultLimits
	tight.Download = 100
	a, _ = fetch.Parse(url, "git")
	_, err = fetch.Fetcher{Guard: fetch.Guard{AllowPrivate: true}, Limits: tight, Temp: t.TempDir()}.FromWeb(t.Context(), a, fetch.Filter{})
	wantKind(t, "too large", err, skald.KindInvalid)
}

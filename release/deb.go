package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/skald-engine/skald/openclaw"
)

//go:embed templates
var templates embed.FS

// debs makes a Debian package for each Linux: a tree as it shall lie in /, packed by nfpm.
func (r *release) debs(ctx context.Context) error {
	for _, p := range r.list {
		if p.os != "linux" {
			continue
		}
		files, err := r.debFiles(p)
		if err != nil {
			return err
		}
		root := filepath.Join(r.work, "deb-"+p.arch)
		if err := writeTree(root, r.date, files); err != nil {
			return err
		}
		config, err := r.render("nfpm.yaml", map[string]string{"Arch": p.arch, "Version": debVersion(r.version), "Root": root})
		if err != nil {
			return err
		}
		path := root + ".yaml"
		if err := os.WriteFile(path, config, 0o644); err != nil {
			return err
		}
		target := r.artefact("skald_%s_%s.deb", r.version, p.arch)
		if err := r.tool(ctx, nfpm, "package", "--packager", "deb", "--config", path, "--target", target); err != nil {
			return err
		}
	}
	return nil
}

// debFiles are the package's contents, where Debian's policy wants them.
func (r *release) debFiles(p platform) ([]file, error) {
	binary, err := os.ReadFile(r.binaries[p])
	if err != nil {
		return nil, err
	}
	files := []file{program("usr/bin/skald", binary)}
	for _, page := range r.pages {
		switch folder, name := filepath.Split(page.name); {
		case folder == "man/":
			files = append(files, text("usr/share/man/man1/"+name+".gz", compress(page.data)))
		case name == "skald.bash":
			files = append(files, text("usr/share/bash-completion/completions/skald", page.data))
		case name == "_skald":
			files = append(files, text("usr/share/zsh/vendor-completions/_skald", page.data))
		case name == "skald.fish":
			files = append(files, text("usr/share/fish/vendor_completions.d/skald.fish", page.data))
		}
	}
	for _, id := range openclaw.Builds {
		plugin, err := pluginFiles(id)
		if err != nil {
			return nil, err
		}
		files = append(files, below("usr/share/skald/openclaw/"+id, plugin)...)
	}
	copyright, err := r.render("copyright", map[string]string{"Licences": "/usr/share/doc/skald/" + licencesFile + ".gz"})
	if err != nil {
		return nil, err
	}
	changelog, err := r.render("changelog", map[string]string{"Version": debVersion(r.version), "Date": r.date.Format(time.RFC1123Z)})
	if err != nil {
		return nil, err
	}
	unit, err := fs.ReadFile(templates, "templates/skald.service")
	if err != nil {
		return nil, err
	}
	overrides, err := fs.ReadFile(templates, "templates/lintian-overrides")
	if err != nil {
		return nil, err
	}
	return append(files,
		text("usr/lib/systemd/user/skald.service", unit),
		text("usr/share/doc/skald/copyright", copyright),
		text("usr/share/doc/skald/"+licencesFile+".gz", compress(r.licences)),
		text("usr/share/doc/skald/changelog.gz", compress(changelog)),
		text("usr/share/lintian/overrides/skald", overrides),
	), nil
}

// debVersion orders as Debian does: 1.2.3~rc.1 before 1.2.3, and 1.2.3+4.gabc, four commits after the tag, behind it.
func debVersion(version string) string {
	base, rest, found := strings.Cut(version, "-")
	switch {
	case !found:
		return base
	case rest[0] >= '0' && rest[0] <= '9' || rest == "dirty":
		return base + "+" + strings.ReplaceAll(rest, "-", ".")
	}
	return base + "~" + strings.ReplaceAll(rest, "-", ".")
}

// compress is gzip -9n.
func compress(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is a valid one, and a buffer takes all
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

func (r *release) render(name string, values map[string]string) ([]byte, error) {
	t, err := template.ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Option("missingkey=error").Execute(&b, values); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return b.Bytes(), nil
}

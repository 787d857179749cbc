package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// completions are cobra's shells and the file names that shells look for.
var completions = map[string]string{"bash": "skald.bash", "zsh": "_skald", "fish": "skald.fish", "powershell": "skald.ps1"}

// makePages has the program write its man pages and completions: man/*.1, completions/*.
func (r *release) makePages(ctx context.Context) error {
	dir := filepath.Join(r.work, "man")
	if _, err := r.skald(ctx, "man", dir); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	pages, err := load(names...)
	if err != nil {
		return err
	}
	if len(pages) == 0 {
		return fmt.Errorf("`skald man` wrote no page")
	}
	r.pages = below("man", pages)
	for shell, name := range completions {
		script, err := r.skald(ctx, "completion", shell)
		if err != nil {
			return err
		}
		r.pages = append(r.pages, text("completions/"+name, script))
	}
	return nil
}

// skald runs the binary of this machine, with nothing of the user's.
func (r *release) skald(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, r.host(), args...)
	cmd.Env = []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()), "HOME=" + r.work, "NO_COLOR=1"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("skald %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// archives packs a binary with its documents, in a folder of the archive's name.
func (r *release) archives(context.Context) error {
	var err error
	if r.docs, err = documents(); err != nil {
		return err
	}
	for _, p := range r.list {
		binary, err := os.ReadFile(r.binaries[p])
		if err != nil {
			return err
		}
		files := append([]file{program(p.binary(), binary), text(licencesFile, r.licences)}, r.docs...)
		files = append(files, r.pages...)
		name := fmt.Sprintf("skald_%s_%s_%s", r.version, p.os, p.arch)
		if p.os == "windows" {
			err = writeZip(r.artefact("%s.zip", name), r.date, below(name, files))
		} else {
			err = writeTarGz(r.artefact("%s.tar.gz", name), r.date, below(name, files))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// documents are the README and the pages that it leads to.
func documents() ([]file, error) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		return nil, err
	}
	docs, err := load(pages...)
	if err != nil {
		return nil, err
	}
	top, err := load("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE")
	return append(top, below("docs", docs)...), err
}

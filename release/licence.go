package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const licencesFile = "THIRD_PARTY_LICENSES.txt"

// linked is a module that is part of a binary, with the licence files that stand in its folder or above one of its linked packages.
type linked struct {
	version string
	texts   map[string]string // by path within the module
	folders []string          // of its linked packages, within the module
}

// partly names the licence files of a module that concern one folder of it alone. While nothing of that folder is linked they don't count.
var partly = map[string]struct {
	folder string
	files  []string
}{
	"github.com/cyphar/filepath-securejoin": {"pathrs-lite", []string{"COPYING.md", "LICENSE.MPL-2.0"}}, // the rest is BSD-3-Clause
}

// leaveOut drops the licence files that concern nothing that is linked.
func (m *linked) leaveOut(path string) {
	apart, ok := partly[path]
	if !ok || slices.ContainsFunc(m.folders, func(f string) bool { return f == apart.folder || strings.HasPrefix(f, apart.folder+"/") }) {
		return
	}
	for _, name := range apart.files {
		delete(m.texts, name)
	}
}

// collectLicences gathers the licences of everything linked into any binary, and fails on one that is copyleft or unknown.
func (r *release) collectLicences(ctx context.Context) error {
	modules := map[string]*linked{}
	for _, p := range platforms { // all, whatever was chosen: an archive does not depend on its neighbours
		if err := p.gather(ctx, modules); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "Skald %s is licensed under Apache-2.0. What is linked into its binary:\n\n", r.version)
	var wrong []error
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		modules[path].leaveOut(path)
		kinds, err := modules[path].kinds()
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", path, err))
		}
		fmt.Fprintf(&page, "%-55s %-45s %s\n", path, modules[path].version, strings.Join(kinds, ", "))
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		for _, name := range slices.Sorted(maps.Keys(modules[path].texts)) {
			fmt.Fprintf(&page, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 100), path, name, strings.TrimSpace(modules[path].texts[name]))
		}
	}
	r.licences = page.Bytes()
	return errors.Join(append(wrong, os.WriteFile(r.artefact(licencesFile), r.licences, 0o644))...)
}

// gather adds the modules whose packages are linked for a platform.
func (p platform) gather(ctx context.Context, modules map[string]*linked) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Standard,Module", "./cmd/skald")
	cmd.Env = p.environ()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		switch err := d.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return p.standard(ctx, modules)
		case err != nil:
			return err
		case pkg.Standard || pkg.Module == nil || pkg.Module.Main:
			continue
		}
		m := modules[pkg.Module.Path]
		if m == nil {
			m = &linked{version: pkg.Module.Version, texts: map[string]string{}}
			modules[pkg.Module.Path] = m
		}
		folder, err := filepath.Rel(pkg.Module.Dir, pkg.Dir)
		if err != nil {
			return err
		}
		m.folders = append(m.folders, filepath.ToSlash(folder))
		if err := m.read(pkg.Module.Dir, pkg.Dir); err != nil {
			return err
		}
	}
}

// standard adds the standard library, whose licence stands in Go's own folder.
func (p platform) standard(ctx context.Context, modules map[string]*linked) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return err
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	std := &linked{version: version, texts: map[string]string{}}
	modules["Go standard library"] = std
	return std.read(root, root)
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)`)

// read takes the licence files of a folder and of those above it, up to the module's.
func (m *linked) read(root, dir string) error {
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			path := filepath.Join(dir, e.Name())
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			m.texts[filepath.ToSlash(name)] = string(data)
		}
		if dir == root {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// Sentences by which a licence is known. A text may hold several.
var (
	permissive = map[string]string{
		"Apache-2.0":    "apache license version 2.0",
		"MIT":           "permission is hereby granted, free of charge",
		"BSD":           "redistribution and use in source and binary forms",
		"ISC":           "permission to use, copy, modify, and",
		"public domain": "public domain",
	}
	copyleft = []string{"gnu general public license", "gnu lesser general public", "gnu affero", "mozilla public license",
		"eclipse public license", "common development and distribution license", "server side public license",
		"sharealike", "business source license"}
)

// surveys are licence files that list a module's whole surroundings, tests and tools included, and so name licences of things that are
// not linked. They were read: what they say is linked (musl, SQLite, Go modules that are checked by themselves) is permissive.
var surveys = regexp.MustCompile(`(?i)3rd-party`)

// kinds names the licences of a module, or fails.
func (m *linked) kinds() ([]string, error) {
	found := map[string]bool{}
	for name, text := range m.texts {
		plain := strings.ReplaceAll(strings.Join(strings.Fields(strings.ToLower(text)), " "), ", version", " version")
		for _, sentence := range copyleft {
			if strings.Contains(plain, sentence) && !surveys.MatchString(name) {
				return nil, fmt.Errorf("%s speaks of %q", name, sentence)
			}
		}
		for kind, sentence := range permissive {
			if strings.Contains(plain, sentence) {
				found[kind] = true
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no licence that is known to be permissive")
	}
	return slices.Sorted(maps.Keys(found)), nil
}

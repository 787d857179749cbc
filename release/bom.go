package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Tools that are run at a fixed version and are no dependency of the module.
const (
	cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
	nfpm      = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"
)

// boms writes a CycloneDX document for each binary, of the modules that its build information names. The plugin has none: it bundles
// only its own source.
func (r *release) boms(ctx context.Context) error {
	for _, p := range r.list {
		path := r.artefact("skald_%s_%s_%s.cdx.json", r.version, p.os, p.arch)
		err := r.tool(ctx, cyclonedx, "bin", "-json", "-std", "-noserial", "-notimestamp",
			"-version", "v"+r.version, "-output", path, r.binaries[p])
		if err != nil {
			return err
		}
	}
	return nil
}

// tool runs a pinned tool, quietly when all is well.
func (r *release) tool(ctx context.Context, tool string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "-trimpath", tool}, args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()))
	cmd.Dir = r.work // outside the module: its versions do not matter to the tool
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", tool, err, strings.TrimSpace(string(out)))
	}
	return nil
}

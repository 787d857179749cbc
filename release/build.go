package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// build makes the static binaries, one after the other: a compiler run uses all cores by itself.
func (r *release) build(ctx context.Context) error {
	targets := r.list
	if own := (platform{runtime.GOOS, runtime.GOARCH}); !slices.Contains(targets, own) {
		targets = append([]platform{own}, targets...) // man pages are written by a binary that runs here
	}
	for i, p := range targets {
		begun := time.Now()
		path := filepath.Join(r.work, "bin", p.os+"_"+p.arch, p.binary())
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", path,
			"-ldflags", "-s -w -X github.com/skald-engine/skald/internal/app.Version="+r.version, "./cmd/skald")
		cmd.Env = p.environ()
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
		r.binaries[p] = path
		say("  %d of %d: %s, %.0f s", i+1, len(targets), p, time.Since(begun).Seconds())
	}
	return nil
}

// environ sets for the Go command all that would get into the binary, whatever the user's own settings are.
func (p platform) environ() []string {
	return append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off")
}

// host is the binary that runs here.
func (r *release) host() string { return r.binaries[platform{runtime.GOOS, runtime.GOARCH}] }

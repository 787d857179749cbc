// Command release makes everything that is published of one version: archives, Debian packages, npm packages, software bills of
// materials, licences and checksums. The same commit gives the same bytes. `make release` runs it; docs/packages.md tells the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "dist", "folder for the artefacts; it is made anew")
	version := flag.String("version", "", "version; default: git describe, else that of openclaw/package.json")
	only := flag.String("platforms", "", "comma-separated, as linux/amd64; default: all")
	flag.Parse()
	if err := run(ctx, *out, *version, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one run.
type release struct {
	out      string // where artefacts go
	work     string // scratch, removed at the end
	version  string // semantic version without v
	date     time.Time
	list     []platform
	binaries map[platform]string
	pages    []file // man pages and completions
	licences []byte // of all that is linked in
	docs     []file // README, CHANGELOG, LICENSE and the pages
}

func run(ctx context.Context, out, version, only string) error {
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run it in the repository's folder: go run ./release")
	}
	r := &release{binaries: map[platform]string{}}
	var err error
	if r.list, err = choose(only); err != nil {
		return err
	}
	if r.version, err = versionOf(ctx, version); err != nil {
		return err
	}
	if r.date, err = dateOf(ctx); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := clean(r.out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "skald-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	return r.steps(ctx)
}

func (r *release) steps(ctx context.Context) error {
	begun := time.Now()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"binaries", r.build},
		{"licences", r.collectLicences},
		{"man pages and completions", r.makePages},
		{"archives", r.archives},
		{"Debian packages", r.debs},
		{"npm packages", r.npm},
		{"bills of materials", r.boms},
		{"checksums", r.sums},
	} {
		say("%s", step.name)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	say("%s is complete: version %s, %.0f s", r.out, r.version, time.Since(begun).Seconds())
	return nil
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "release: "+format+"\n", args...) }

// artefact is the path of a published file.
func (r *release) artefact(format string, args ...any) string {
	return filepath.Join(r.out, fmt.Sprintf(format, args...))
}

// clean empties the folder of artefacts, and refuses one that holds anything else.
func clean(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "skald") && e.Name() != sumsFile && e.Name() != licencesFile {
			return fmt.Errorf("%s holds %s, which is no artefact: take an empty folder", dir, e.Name())
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// versionOf takes the version that was given, that of the tag, or the plugin's. The plugin is built before and carries its own, so they
// must agree in what stands before the first hyphen.
func versionOf(ctx context.Context, given string) (string, error) {
	plugin, err := pluginVersion()
	if err != nil {
		return "", err
	}
	if given == "" {
		described, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--dirty").Output()
		if given = strings.TrimSpace(string(described)); err != nil {
			given = plugin
		}
	}
	version := strings.TrimPrefix(given, "v")
	if !semantic.MatchString(version) {
		return "", fmt.Errorf("version %q is not like 1.2.3 or 1.2.3-rc.1", given)
	}
	if base, _, _ := strings.Cut(version, "-"); base != plugin {
		return "", fmt.Errorf("version %s, but the plugin is %s: change openclaw/package.json, `make plugin`, commit, and tag that",
			version, plugin)
	}
	return version, nil
}

// dateOf is SOURCE_DATE_EPOCH, else the commit's time: everything that carries a time carries this one.
func dateOf(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, errors.New("no git commit to take the time from: set SOURCE_DATE_EPOCH to seconds since 1970")
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

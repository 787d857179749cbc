package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/resource/fetch"
)

func (s *shell) resource() *cobra.Command {
	c := &cobra.Command{
		Use: "resource", Short: "Import files, pages and repositories; watch them", Example: "  skald resource add notes/\n  skald resource watch list",
	}
	watch := &cobra.Command{Use: "watch", Short: "Imports that are repeated", Example: "  skald resource watch list"}
	watch.AddCommand(s.watchList(), s.watchChange("pause", "Stop repeating an import for now"), s.watchChange("resume", "Repeat an import again"),
		s.watchChange("trigger", "Repeat an import now"), s.watchChange("remove", "Never repeat an import again; what it brought stays"))
	c.AddCommand(s.resourceAdd("add"), s.resourceList(), watch)
	return c
}

// addResource is `skald resource add` under the name that OpenViking's users know.
func (s *shell) addResource() *cobra.Command {
	c := s.resourceAdd("add-resource")
	c.Hidden = true
	return c
}

func (s *shell) resourceAdd(name string) *cobra.Command {
	var r resource.Request
	var noWait, flat bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: name + " SOURCE", Short: "Import a file, a folder, a page or a repository", Args: arguments("SOURCE"),
		Long: `Import a resource into the viking:// tree: a file or folder of this machine, an http(s) address, or a Git repository
(https://…/name.git, git@host:owner/name, a page of GitHub or GitLab). Known are Markdown, text, HTML, PDF, Word, PowerPoint, Excel,
EPUB, pictures, audio, video, source code and configuration files; a zip archive is a folder.

An import that is repeated with the same --to changes only what changed.`,
		Example: "  skald " + map[bool]string{true: "resource add", false: name}[name == "add"] + " docs/ --to viking://resources/docs\n  skald resource add https://github.com/owner/name --watch 60",
		RunE: func(c *cobra.Command, args []string) error {
			r.Flat = flat
			ctx := c.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			return s.open(ctx, s.fresh(), func(p *place) error {
				out, err := s.importer(p).add(ctx, args[0], r, !noWait)
				if err != nil {
					return err
				}
				return s.print(out, func(w io.Writer) { showOutcome(w, out) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.To, "to", "", "the resource's URI (default viking://resources/<name>)")
	f.StringVar(&r.Parent, "parent", "", "the folder to put it in, under its own name")
	f.BoolVar(&r.CreateParent, "create-parent", false, "make that folder when it is missing")
	f.StringVar(&r.Reason, "reason", "", "why it is imported; kept with it")
	f.StringVar(&r.Include, "include", "", "only files that match these globs, with commas between")
	f.StringVar(&r.Exclude, "exclude", "", "no files that match these globs")
	f.StringVar(&r.IgnoreDirs, "ignore-dirs", "", "leave these folders out, with commas between")
	f.StringSliceVar(&r.Tags, "tag", nil, "key=value, on everything that is imported; may be repeated")
	f.BoolVar(&r.Strict, "strict", false, "one file that cannot be read fails the import")
	f.BoolVar(&flat, "flat", false, "put all files directly below the root")
	f.StringVar(&r.Branch, "branch", "", "branch or tag of a repository")
	f.Float64Var(&r.Interval, "watch", 0, "repeat the import every so many minutes (addresses only)")
	f.BoolVar(&noWait, "no-wait", false, "return when the import is accepted; `skald jobs` shows it")
	f.DurationVar(&timeout, "timeout", 0, "give up waiting after this time; the import goes on")
	s.whereFlags(c)
	return c
}

func showOutcome(w io.Writer, o resource.Outcome) {
	rows := [][]string{{"resource", string(o.RootURI)}, {"source", o.Source}}
	m := o.Meta
	if o.Status == "accepted" {
		rows = append(rows, []string{"state", "accepted; `skald jobs` shows how far it is"})
	} else {
		rows = append(rows, []string{"files", fmt.Sprintf("%d: %d new, %d changed, %d unchanged, %d removed", m.Files, m.Created, m.Updated, m.Unchanged, m.Removed)})
	}
	table(w, rows)
	for _, part := range []struct {
		title string
		lines []string
	}{{"Not imported:", o.Errors}, {"Notes:", o.Warnings}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintln(w, "\n"+part.title)
		for _, line := range part.lines[:min(len(part.lines), 20)] {
			fmt.Fprintln(w, "  "+line)
		}
		if n := len(part.lines) - 20; n > 0 {
			fmt.Fprintf(w, "  … and %d more; --json lists them\n", n)
		}
	}
}

func (s *shell) resourceList() *cobra.Command {
	c := &cobra.Command{
		Use: "list [URI]", Short: "List imported resources", Args: optional("URI"), Example: "  skald resource list",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"viking://resources"}
			}
			return s.folder(c, args, 1, func(w io.Writer, files []skald.FileInfo) {
				rows := [][]string{}
				for _, f := range files {
					rows = append(rows, []string{name(f), when(f.Modified), line(f.Abstract, 80)})
				}
				table(w, rows)
			})
		},
	}
	s.whereFlags(c)
	return c
}

// source opens what a person named: a file or folder of this machine as an upload, else an address. A folder is packed into a zip archive
// without the folders that every import leaves out.
func openSource(arg string) (file io.ReadCloser, name string, err error) {
	info, err := os.Stat(arg)
	switch {
	case os.IsNotExist(err) && (strings.Contains(arg, "://") || strings.HasPrefix(arg, "git@") || strings.HasPrefix(arg, "git+")):
		return nil, "", nil
	case err != nil:
		return nil, "", skald.Invalid("", "source", "%s is neither a file nor a folder nor an address: %w", arg, err)
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return nil, "", err
	}
	if !info.IsDir() {
		file, err = os.Open(arg)
		return file, filepath.Base(abs), err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(fetch.Pack(w, abs)) }()
	return r, filepath.Base(abs) + ".zip", nil
}

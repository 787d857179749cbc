package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
)

func (s *shell) pack() *cobra.Command {
	c := &cobra.Command{Use: "pack", Short: "Carry folders and whole accounts as pack files (.ovpack), to OpenViking and back"}
	c.AddCommand(s.packExport(), s.packImport(), s.packBackup(), s.packRestore())
	return c
}

// packed is what a pack command did.
type packed struct {
	URI   skald.URI `json:"uri"`
	File  string    `json:"file"`
	Bytes int       `json:"bytes"`
}

func (s *shell) packExport() *cobra.Command {
	c := &cobra.Command{
		Use: "export URI FILE", Short: "Write a folder with all below it to a pack file", Args: arguments("URI", "FILE"),
		Example: "  skald pack export viking://resources/birds birds.ovpack",
		RunE: func(c *cobra.Command, args []string) error {
			return s.writePack(c.Context(), "export", args[0], args[1])
		},
	}
	s.whereFlags(c)
	return c
}

func (s *shell) packBackup() *cobra.Command {
	c := &cobra.Command{
		Use: "backup FILE", Short: "Write all that an account holds to a pack file", Args: arguments("FILE"),
		Long: `Write all that an account holds to a pack file that this program and OpenViking read: resources, skills, and of every user the memories,
files and sessions. Messages stand in it in OpenViking's form. For an exact copy stop the daemon and copy its data folder.`,
		Example: "  skald pack backup all.ovpack",
		RunE:    func(c *cobra.Command, args []string) error { return s.writePack(c.Context(), "backup", "", args[0]) },
	}
	s.whereFlags(c)
	return c
}

// writePack gets a pack and writes it to a file that must not be there yet.
func (s *shell) writePack(ctx context.Context, action, uri, file string) error {
	return s.use(ctx, func(p *place) error {
		var pack []byte
		var err error
		if daemon, ok := p.Engine.(*client.Client); ok {
			pack, err = daemon.Pack(ctx, p.id, action, uri)
		} else {
			var b bytes.Buffer
			if action == "backup" {
				err = p.app.Files().Backup(ctx, p.id, &b)
			} else {
				err = p.app.Files().Export(ctx, p.id, uri, &b)
			}
			pack = b.Bytes()
		}
		if err != nil {
			return err
		}
		if err := create(file, pack); err != nil {
			return err
		}
		if uri == "" {
			uri = string(skald.Root)
		}
		done := packed{URI: skald.URI(uri), File: file, Bytes: len(pack)}
		return s.print(done, func(w io.Writer) { fmt.Fprintf(w, "%s: %d bytes of %s\n", file, len(pack), uri) })
	})
}

// create writes a new file, for this user alone.
func create(file string, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return skald.Invalid("", "file", "%w", err)
	}
	_, err = f.Write(b)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return skald.E("pack", skald.KindUnavailable, "%s could not be written: %w", file, err)
	}
	return nil
}

func (s *shell) packImport() *cobra.Command {
	var conflict string
	c := &cobra.Command{
		Use: "import FILE URI", Short: "Read a pack file into the folder URI", Args: arguments("FILE", "URI"),
		Example: "  skald pack import birds.ovpack viking://resources",
		RunE: func(c *cobra.Command, args []string) error {
			return s.readPack(c.Context(), args[0], func(p *place, pack []byte) (skald.URI, error) {
				daemon, ok := p.Engine.(*client.Client)
				if !ok {
					return p.app.Files().Import(c.Context(), p.id, args[1], conflict, bytes.NewReader(pack), int64(len(pack)))
				}
				return upload(c.Context(), daemon, p.id, "import", args[0], pack, map[string]string{"parent": args[1], "on_conflict": conflict})
			})
		},
	}
	s.conflictFlag(c, &conflict)
	return c
}

func (s *shell) packRestore() *cobra.Command {
	var conflict string
	c := &cobra.Command{
		Use: "restore FILE", Short: "Read a backup back into an account", Args: arguments("FILE"),
		Long: `Read a backup of this program or of OpenViking back into an account. What the backup does not name stays. Messages that are stored
already are recognised, so that a restore which was cut off can be repeated, with --on-conflict skip or overwrite.`,
		Example: "  skald pack restore all.ovpack --on-conflict skip",
		RunE: func(c *cobra.Command, args []string) error {
			return s.readPack(c.Context(), args[0], func(p *place, pack []byte) (skald.URI, error) {
				daemon, ok := p.Engine.(*client.Client)
				if !ok {
					return skald.Root, p.app.Files().Restore(c.Context(), p.id, conflict, bytes.NewReader(pack), int64(len(pack)))
				}
				return upload(c.Context(), daemon, p.id, "restore", args[0], pack, map[string]string{"on_conflict": conflict})
			})
		},
	}
	s.conflictFlag(c, &conflict)
	return c
}

func (s *shell) conflictFlag(c *cobra.Command, conflict *string) {
	c.Flags().StringVar(conflict, "on-conflict", "fail", "what to do where something stands already: fail, overwrite, skip")
	s.whereFlags(c)
	c.PreRunE = func(*cobra.Command, []string) error {
		return oneOf("on-conflict", *conflict, "fail", "overwrite", "skip")
	}
}

// readPack reads a pack file and has it stored.
func (s *shell) readPack(ctx context.Context, file string, store func(*place, []byte) (skald.URI, error)) error {
	pack, err := os.ReadFile(file)
	if err != nil {
		return skald.Invalid("", "file", "%w", err)
	}
	return s.open(ctx, s.fresh(), func(p *place) error {
		uri, err := store(p, pack)
		if err != nil {
			return err
		}
		if p.app != nil { // no daemon would make the folders' texts later
			if err := p.app.Files().Settle(ctx, p.id); err != nil {
				return err
			}
		}
		return s.print(packed{URI: uri, File: file, Bytes: len(pack)}, func(w io.Writer) { fmt.Fprintln(w, uri) })
	})
}

func upload(
	ctx context.Context, daemon *client.Client, id skald.Identity, action, file string, pack []byte, body map[string]string,
) (skald.URI, error) {
	upload, err := daemon.Upload(ctx, id, filepath.Base(file), bytes.NewReader(pack))
	if err != nil {
		return "", err
	}
	body["temp_file_id"] = upload
	var out struct {
		URI skald.URI `json:"uri"`
	}
	err = daemon.API(ctx, http.MethodPost, "/pack/"+action, id, nil, body, &out)
	return out.URI, err
}

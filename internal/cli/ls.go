package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) ls() *cobra.Command {
	c := &cobra.Command{
		Use: "ls [URI]", Short: "List a folder of the viking:// tree", Args: optional("URI"),
		Example: "  skald ls\n  skald ls viking://user/memories",
		RunE: func(c *cobra.Command, args []string) error {
			return s.folder(c, args, 1, func(w io.Writer, files []skald.FileInfo) {
				rows := [][]string{}
				for _, f := range files {
					bytes, changed := fmt.Sprint(f.Size), when(f.Modified)
					if f.Dir {
						bytes, changed = "", ""
					}
					rows = append(rows, []string{name(f), bytes, changed, line(f.Abstract, 80)})
				}
				table(w, rows)
			})
		},
	}
	s.whereFlags(c)
	return c
}

// folder asks for a folder of the tree and prints it.
func (s *shell) folder(c *cobra.Command, args []string, depth int, show func(io.Writer, []skald.FileInfo)) error {
	uri := string(skald.Root)
	if len(args) > 0 {
		uri = args[0]
	}
	return s.use(c.Context(), func(p *place) error {
		files, err := p.List(c.Context(), p.id, uri, depth)
		if err != nil {
			return err
		}
		return s.print(list(files), func(w io.Writer) { show(w, files) })
	})
}

func name(f skald.FileInfo) string {
	if f.Dir {
		return f.Name + "/"
	}
	return f.Name
}

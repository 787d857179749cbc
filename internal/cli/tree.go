package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) tree() *cobra.Command {
	var depth int
	c := &cobra.Command{
		Use: "tree [URI]", Short: "Print the viking:// tree below a URI", Args: optional("URI"),
		Example: "  skald tree viking://user/memories --depth 3",
		RunE: func(c *cobra.Command, args []string) error {
			if err := within("depth", int64(depth), 1, 100); err != nil {
				return err
			}
			return s.folder(c, args, depth, func(w io.Writer, files []skald.FileInfo) {
				for _, f := range files {
					fmt.Fprintf(w, "%s%s\n", strings.Repeat("  ", max(0, f.Depth-1)), name(f))
				}
			})
		},
	}
	c.Flags().IntVar(&depth, "depth", 6, "levels")
	s.whereFlags(c)
	return c
}

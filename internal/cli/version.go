package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/app"
)

func (s *shell) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments(),
		Example: "  skald version --json",
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Protocol int    `json:"protocol"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{app.Version, skald.ProtocolVersion, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return s.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "skald %s (protocol %d, %s, %s)\n", v.Version, v.Protocol, v.Go, v.Platform)
			})
		},
	}
}

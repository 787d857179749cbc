package cli

import (
	"context"
	"errors"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/launch"
	"github.com/skald-engine/skald/server/mcp"
)

// mcpStart is how long an MCP server waits for a daemon that it started.
const mcpStart = 10 * time.Second

func (s *shell) mcp() *cobra.Command {
	c := &cobra.Command{
		Use: "mcp", Short: "Serve the Model Context Protocol on standard input and output", Args: arguments(),
		Long: `Serve the Model Context Protocol on standard input and output, for any MCP client: memory_recall, memory_expand, memory_store,
memory_forget, memory_search, memory_ls, memory_read, and every viking:// URI as a resource. The calls go to the daemon, which is started
when none runs on this machine; with --data the folder is opened in this process. The daemon itself serves the same at /mcp.`,
		Example: "  claude mcp add skald -- skald mcp\n  skald mcp --server http://127.0.0.1:1933",
		RunE:    func(c *cobra.Command, _ []string) error { return s.serveMCP(c.Context()) },
	}
	s.whereFlags(c)
	return c
}

func (s *shell) serveMCP(ctx context.Context) error {
	if s.where.data == "" {
		if err := s.launch(ctx); err != nil {
			return err
		}
	}
	return s.open(ctx, app.Options{}, func(p *place) error {
		if p.app != nil {
			defer p.app.Background(ctx)()
		}
		server := mcp.New(mcp.Backend{Engine: p, Inspector: p, Version: app.Version}, p.id)
		err := server.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(s.in), Writer: leaveOpen{s.out}})
		if errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
			return nil
		}
		return err
	})
}

// launch starts the daemon of this machine when none answers. One elsewhere, or one that does not come up, is told by the first call.
func (s *shell) launch(ctx context.Context) error {
	c, err := s.where.settings()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mcpStart)
	defer cancel()
	if err := launch.Ensure(ctx, launch.Options{URL: s.where.address(c), Data: c.Data}); err != nil {
		s.note(plainText(err))
	}
	return nil
}

// leaveOpen keeps standard output open when the server ends.
type leaveOpen struct{ io.Writer }

func (leaveOpen) Close() error { return nil }

//go:build !mcp

package cli

import "github.com/spf13/cobra"

// mcp is not in this build.
func (s *shell) mcp() *cobra.Command {
	return &cobra.Command{Use: "mcp", Short: "Serve the Model Context Protocol (not in this build)", Hidden: true}
}

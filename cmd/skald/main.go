// Command skald is the context engine's daemon and its tools: see `skald --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/skald-engine/skald/internal/cli"
)

func main() { os.Exit(run()) }

// run ends the program orderly at the first signal; a second one ends it at once.
func run() int {
	ctx, restore := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer restore()
	context.AfterFunc(ctx, restore)
	return cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
)

func main() {
	fs := flag.NewFlagSet("serve", flag.ExitOnError)
	data := fs.String("data", "", "")
	listen := fs.String("listen", "127.0.0.1:1933", "")
	fs.Parse(os.Args[2:])
	c, _, err := config.Load("", os.LookupEnv)
	if err != nil {
		panic(err)
	}
	c.Data, c.Listen = *data, *listen
	if err := c.Finish(); err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = app.Serve(ctx, app.Options{Config: c, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}, func(r app.Running) { fmt.Println(r) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

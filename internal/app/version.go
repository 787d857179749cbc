package app

import (
	"runtime/debug"
	"strings"
)

// Version is the program's version. A release build sets it: -ldflags "-X github.com/skald-engine/skald/internal/app.Version=1.2.3".
var Version = "0.1.0"

// A binary of `go install …@v1.2.3` knows it from its module.
func init() {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Sum != "" {
		Version = strings.TrimPrefix(info.Main.Version, "v")
	}
}

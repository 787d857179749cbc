package app

// Version is the program's version. A release build sets it: -ldflags "-X github.com/skald-engine/skald/internal/app.Version=1.2.3".
var Version = "0.1.0"

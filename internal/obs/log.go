// Package obs is how the daemon is observed: its log and its numbers. Neither ever fails what it observes (CAP-14).
package obs

import (
	"io"
	"log/slog"
	"strings"

	skald "github.com/skald-engine/skald"
)

// NewLog makes a logger. level is debug, info, warn or error; format is text or json. Secrets are masked by the names of their
// attributes and by their shape.
func NewLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, skald.Invalid("obs.log", "log.level", "%q is not debug, info, warn or error", level)
	}
	o := &slog.HandlerOptions{Level: l, ReplaceAttr: mask}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, skald.Invalid("obs.log", "log.format", "%q is not text or json", format)
}

// masked stands for a secret.
const masked = "[masked]"

var secretNames = map[string]bool{
	"key": true, "api_key": true, "apikey": true, "x-api-key": true, "authorization": true, "token": true, "secret": true,
	"password": true, "passwd": true, "credential": true,
}

func mask(_ []string, a slog.Attr) slog.Attr {
	name := strings.ToLower(a.Key)
	if secretNames[name] || strings.HasSuffix(name, "_key") || strings.HasSuffix(name, "_secret") || strings.HasSuffix(name, "_token") {
		return slog.String(a.Key, masked)
	}
	if a.Value.Kind() == slog.KindString && strings.Contains(strings.ToLower(a.Value.String()), "bearer ") {
		return slog.String(a.Key, masked)
	}
	return a
}

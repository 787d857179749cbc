// Package wire is what both HTTP APIs and the Go client share: the table of errors, the caller's identity on a request's
// context, the reading of bodies, and JSON that keeps the host's messages byte for byte (encoding/json would compact and
// escape them).
package wire

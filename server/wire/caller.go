package wire

import (
	"context"
	"strings"

	skald "github.com/skald-engine/skald"
)

// Headers of both APIs.
const (
	HeaderAccount   = "X-OpenViking-Account"
	HeaderUser      = "X-OpenViking-User"
	HeaderAgent     = "X-OpenViking-Agent" // (001-013 to 001-016)
	HeaderPeer      = "X-OpenViking-Actor-Peer"
	HeaderRole      = "X-OpenViking-Role"
	HeaderKey       = "X-API-Key"
	HeaderProtocol  = "X-Skald-Protocol"
	HeaderRequestID = "X-Request-ID"
)

type callerKey struct{}
type requestIDKey struct{}

// WithCaller puts the caller's identity on the context. Access does it, once, at the edge.
func WithCaller(ctx context.Context, id skald.Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}

// Caller is the identity that access resolved. A request that passed no access check has none.
func Caller(ctx context.Context) (skald.Identity, bool) {
	id, ok := ctx.Value(callerKey{}).(skald.Identity)
	return id, ok
}

// WithRequestID puts the request's id on the context.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the id of the request, for logs and traces.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// OfAgent is id on behalf of the named agent; an empty name changes nothing. The name becomes part of URIs and keys, so it
// must be a safe identifier.
func OfAgent(id skald.Identity, agent, field string) (skald.Identity, error) {
	agent = strings.TrimSpace(agent)
	if agent == "" {
		return id, nil
	}
	if !skald.SafeID(agent) {
		return id, skald.Invalid("access", field, "an agent id has letters, digits and _@.- only")
	}
	id.Agent = agent
	return id, nil
}

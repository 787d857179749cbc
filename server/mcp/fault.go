package mcp

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// fault is an error as programs read it: kind and code are those of the HTTP APIs (server/wire).
type fault struct {
	Kind  skald.Kind `json:"kind"`
	Code  string     `json:"code"`
	Field string     `json:"field,omitempty"`
}

// describe classifies an error of a tool. Whatever has no kind was found by the schema: every call of ours ends in a skald.Error.
func describe(err error) fault {
	var e *skald.Error
	if !errors.As(err, &e) {
		e = &skald.Error{Kind: skald.KindInvalid, Field: "arguments"}
	}
	_, code := wire.Outside(e.Kind)
	return fault{Kind: e.Kind, Code: code, Field: e.Field}
}

// protocolError is an error of a resource. JSON-RPC knows the caller's fault and ours; data says more.
func protocolError(uri string, err error) error {
	e := wire.Classify(err)
	if e.Kind == skald.KindNotFound {
		return mcp.ResourceNotFoundError(uri)
	}
	code := int64(jsonrpc.CodeInternalError)
	if status, _ := wire.Outside(e.Kind); status < http.StatusInternalServerError {
		code = jsonrpc.CodeInvalidParams
	}
	data, _ := json.Marshal(describe(e))
	return &jsonrpc.Error{Code: code, Message: e.Error(), Data: data}
}

package wire

import (
	"net/http"
)

// rpcUnauthorized is the JSON-RPC code with which OpenViking turns a caller of its MCP server away.
const rpcUnauthorized = -32001

// WriteRPCError answers a caller of the MCP server who was turned away, in the form of JSON-RPC.
func WriteRPCError(w http.ResponseWriter, err error) {
	f, _ := explain(err)
	type rpcError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	body, err := Encode(struct {
		Version string   `json:"jsonrpc"`
		ID      *int     `json:"id"`
		Error   rpcError `json:"error"`
	}{"2.0", nil, rpcError{rpcUnauthorized, f.Message}})
	if err != nil {
		body = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the error could not be encoded"}}`)
	}
	WriteJSON(w, f.Status, body)
}

// Package mcp offers an engine's tools and its viking:// tree to any client of the Model Context Protocol, on standard input and
// output or as /mcp of the daemon. It translates; what a tool does is the engine's business.
//
// A client is the owner in a direct conversation: it reads what the identity behind its key may read, and nothing of another tenant.
package mcp

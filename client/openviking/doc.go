// Package openviking is a small typed client for the HTTP API of an OpenViking server: what Skald needs to keep its sessions there, and no
// more. Every call has a timeout. Its errors are skald.Error: the kind says whether the server has refused the request (the request did
// nothing) or whether nobody knows what became of it (see Unclear), and the text says what to do.
package openviking

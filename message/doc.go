// Package message reads and writes the host's message format: parsing, what people read of a message, token counts, identity
// across views, and the repair of tool calls and results. It works on structure only and keeps every byte it need not change,
// since providers' caches and the store's fidelity (I1) depend on it.
package message

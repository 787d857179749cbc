// Package replay plays a recorded conversation through an engine exactly as the host would, and measures what the host's model would
// have seen: whether every request stayed within its budget, whether calls and results stayed paired, and how much of each request a
// provider could have read from its cache.
package replay

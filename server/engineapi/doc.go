// Package engineapi serves /engine/v1: the lifecycle of a context engine for the adapter and other hosts, and what people and
// tools ask beside it. It translates and decides nothing; messages pass in both directions byte for byte.
package engineapi

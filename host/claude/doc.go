// Package claude knows where Claude Code keeps its settings, adds Skald's hooks and MCP server to them, and takes them out again. What
// other programs put there stays as it is. Every change is a Plan first; applying it leaves a backup and a record in Skald's data
// folder, by which Undo gives the files back byte for byte.
package claude

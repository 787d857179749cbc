// Package memory turns what the owner says into long-lived memories: it extracts statements from turns, merges or supersedes what
// is stored (Apply), stores and forgets on request, and renders memories.
//
// Memories are quotes with date, speaker and sources (000-016, 000-150). Profile and preferences come from the owner's own words;
// tools, strangers, system texts and the agent's restatements never become one (I10, MEM-04).
package memory

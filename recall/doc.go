// Package recall finds what was said before that bears on the prompt at hand: query -> plan -> search -> load -> rank -> fit. Search is
// wide (memories, archives, raw turns and files, each with its own share of candidates), injection narrow (leaves only, within a token
// budget, of which files get a part). Find is the other half: everything that matches, for clients that filter, page and rank.
// No model is called, nothing waits (I7), and every candidate's scores are kept in the trace.
package recall

// Package trial answers before the switch what Skald would have changed: it plays a user's own conversations, in the order of their time,
// against the host's built-in way (strategy legacy) and against Skald, each with a store of its own, and compares what the model would
// have been given. It counts what would have been avoided: facts that the user said again and files and commands that the agent read again,
// although they stood in the history. It reads its source only, and knows no network.
package trial

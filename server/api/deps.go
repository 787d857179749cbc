package api

import skald "github.com/skald-engine/skald"

// Deps are what the groups of routes need of the daemon. A nil part leaves its routes at 501.
type Deps struct {
	Backend   Backend
	Inspector skald.Inspector
	Settings  Settings    // sessions: configuration, extraction, retries
	Results   ToolResults // sessions: long results of tools
	Tasks     Tasks
	System    System
	Files     Files
	Resources Resources // imports, uploads, watches
	Search    Searcher
	Skills    Skills
	Uploaded  Uploaded     // what was uploaded for skills; nil: no uploads
	Admin     Admin        // accounts, users, keys
	Keyless   bool         // no keys are made for users: headers say who calls
	Policy    skald.Policy // how namespaces are shared where an account does not say
}

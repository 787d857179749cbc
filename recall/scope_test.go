package recall_test

import "github.com/skald-engine/skald"

var userScope = skald.Scope{Account: "default", Kind: skald.ScopeUser, User: "default"}

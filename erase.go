package skald

// ScopeTx knows which scopes an account has, and removes one with all that it holds.
type ScopeTx interface {
	// Scopes lists the scopes of an account in which something is stored, by key. It may list empty ones.
	Scopes(account string) ([]Scope, error)
	// DeleteScope removes for good all that a scope holds: sessions with everything under them (DeleteSession), memories, files, records,
	// dead letters, jobs and documents. The zero Scope, the daemon's own, is refused with KindInvalid. An empty scope is no error.
	DeleteScope(scope Scope) error
}

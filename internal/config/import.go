package config

// Import says what imports of resources may do.
type Import struct {
	AllowPrivate bool `json:"allow_private"` // fetch from addresses that are not public, too: an intranet, this machine; default false
	NoWatch      bool `json:"no_watch"`      // no import is repeated by itself; default false
}

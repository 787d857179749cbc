package config

import (
	"cmp"
	"net/url"
)

// The stores.
const (
	StoreLocal      = "local"
	StoreOpenViking = "openviking"
)

// RemoteStore is the OpenViking server that holds the sessions, with store openviking.
type RemoteStore struct {
	URL, Key, KeyEnv     string
	Account, User, Agent string // sent as headers when they are set
}

// Remote is the server that holds the sessions; false when the daemon's own file does. A URL alone asks for it too (the plugin's baseUrl).
func (c *Config) Remote() (RemoteStore, bool) {
	r := RemoteStore{URL: cmp.Or(c.StoreURL, c.BaseURL), Key: cmp.Or(c.StoreKey, c.APIKey), KeyEnv: c.StoreKeyEnv,
		Account: c.StoreAccount, User: c.StoreUser, Agent: c.StoreAgent}
	return r, c.Store == StoreOpenViking || c.Store == "" && r.URL != ""
}

func (c *Config) checkStore() error {
	switch c.Store {
	case "", StoreLocal, StoreOpenViking:
	default:
		return invalid("store", "%q is not %s or %s", c.Store, StoreLocal, StoreOpenViking)
	}
	r, remote := c.Remote()
	if !remote {
		return nil
	}
	u, err := url.Parse(r.URL)
	switch {
	case r.URL == "":
		return invalid("store_url", "name the OpenViking server, for example http://127.0.0.1:1933")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return invalid("store_url", "%q is not a base URL like http://127.0.0.1:1933", r.URL)
	case u.User != nil:
		return invalid("store_url", "holds a password: give the key by store_key_env")
	case r.Key != "" && r.KeyEnv != "":
		return invalid("store_key_env", "give one of store_key and store_key_env")
	case r.KeyEnv != "" && !variable.MatchString(r.KeyEnv):
		return invalid("store_key_env", "is not the name of an environment variable (the key itself goes to store_key)")
	}
	return safe("store", r.Account, r.User)
}

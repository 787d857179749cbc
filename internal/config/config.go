// Package config reads the daemon's configuration: built-in defaults, then a JSON file, then SKALD_* variables. Flags come last
// and are the caller's.
package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	skald "github.com/skald-engine/skald"
)

// Config is the daemon's configuration, with the keys of its file.
type Config struct {
	Listen          string         `json:"listen"`           // host:port; default 127.0.0.1:1933
	Data            string         `json:"data"`             // folder of everything the daemon keeps; default ~/.skald
	Dev             bool           `json:"dev"`              // loopback without a key: auth_mode dev
	AuthMode        string         `json:"auth_mode"`        // api_key (default), trusted, dev
	RootKey         string         `json:"root_api_key"`     // OpenViking's root key: it manages accounts, and vouches for callers in trusted mode
	RootKeyEnv      string         `json:"root_api_key_env"` // the variable that holds it
	RootKeySHA256   string         `json:"root_api_key_sha256"`
	Keys            []Key          `json:"keys"`             // beside the daemon's own key
	Identity        Identity       `json:"identity"`         // whose the daemon's own key is
	Strategy        string         `json:"strategy"`         // default viking
	Settings        skald.Settings `json:"settings"`         // the daemon's defaults for every session
	Hosts           []string       `json:"hosts"`            // further host names that a loopback daemon answers to
	Origins         []string       `json:"origins"`          // web origins that may call; none by default
	BodyLimit       int64          `json:"body_limit"`       // bytes; default 64 MB
	Workers         int            `json:"workers"`          // background jobs at a time; default 2
	ShutdownSeconds int            `json:"shutdown_seconds"` // wait for calls under way at the end; default 10
	RecallMillis    int            `json:"recall_ms"`        // after which a recall is cut to what is ready; default 150
	Model           Endpoint       `json:"model"`            // for summaries; stored, not used by this version
	Embedding       Endpoint       `json:"embedding"`        // for recall by meaning; none: a table in the binary
	Meaning         bool           `json:"meaning"`          // recall by meaning beside words; default true
	Store           string         `json:"store"`            // local (default), or openviking: an OpenViking server holds the sessions
	StoreURL        string         `json:"store_url"`        // that server's base URL
	StoreKey        string         `json:"store_key"`        // a user's key there
	StoreKeyEnv     string         `json:"store_key_env"`    // the variable that holds it
	StoreAccount    string         `json:"store_account"`    // sent as X-OpenViking-Account when set, and so are user and agent
	StoreUser       string         `json:"store_user"`
	StoreAgent      string         `json:"store_agent"`
	BaseURL         string         `json:"baseUrl"` // the OpenViking plugin's name of store_url
	APIKey          string         `json:"apiKey"`  // its name of store_key
	Log             Log            `json:"log"`
	Import          Import         `json:"import"`                      // of resources: where from, and whether it is repeated
	ToolOutput      ToolOutput     `json:"tool_output_externalization"` // which results of tools are shown as stubs
}

// Key is a further key and whose it is. Exactly one of Key, Env and SHA256 is set. The fields are those of server.Key.
type Key struct {
	Key    string `json:"key"`
	Env    string `json:"key_env"` // the variable that holds the key
	SHA256 string `json:"sha256"`

	Account string     `json:"account"`
	User    string     `json:"user"`
	Role    skald.Rank `json:"role"` // user, admin; default: what the user is registered as
}

// Mode is the mode of access, "" when none is named.
func (c *Config) Mode() string {
	if c.Dev {
		return "dev"
	}
	return c.AuthMode
}

// Root is the root key; the zero Key is none.
func (c *Config) Root() Key { return Key{Key: c.RootKey, Env: c.RootKeyEnv, SHA256: c.RootKeySHA256} }

// Identity names a tenant.
type Identity struct {
	Account string `json:"account"`
	User    string `json:"user"`
}

// Log says how to log.
type Log struct {
	Level  string `json:"level"`  // debug, info, warn, error; default info
	Format string `json:"format"` // text, json; default text
}

// Default is the configuration of a daemon that was told nothing.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:1933", Data: "~/.skald", Strategy: "viking",
		Identity:  Identity{skald.DefaultIdentity.Account, skald.DefaultIdentity.User},
		BodyLimit: 64 << 20, Workers: 2, ShutdownSeconds: 10, RecallMillis: 150, Meaning: true,
		Log: Log{Level: "info", Format: "text"}, ToolOutput: defaultToolOutput(),
	}
}

// Load reads the configuration. path "" means the file at Path, if there is one; a named file must exist. env is os.LookupEnv. The
// warnings name keys that are not known: they never keep a daemon from starting. The result is checked by Validate only after the caller's flags.
func Load(path string, env func(string) (string, bool)) (Config, []string, error) {
	c := Default()
	var warnings []string
	path, b, err := read(path, env)
	if err != nil {
		return c, nil, fmt.Errorf("read the configuration: %w", err)
	}
	if path != "" {
		if warnings, err = c.merge(b); err != nil {
			return c, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return c, warnings, c.fromEnv(env)
}

// merge puts the keys of a file over c.
func (c *Config) merge(file []byte) ([]string, error) {
	var warnings []string
	known, err := keepKnown(file, c, "", &warnings)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(known, c); err != nil {
		return nil, named(err)
	}
	return warnings, nil
}

// Finish expands the data folder's "~" and checks every value, naming the key at fault. It is called after flags.
func (c *Config) Finish() error {
	if rest, ok := strings.CutPrefix(c.Data, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return invalid("data", "there is no home folder (%s): name the data folder", err)
		}
		c.Data = filepath.Join(home, rest)
	}
	return c.validate()
}

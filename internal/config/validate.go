package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	skald "github.com/skald-engine/skald"
)

// validate checks every value and names the key of the first that is wrong.
func (c *Config) validate() error {
	for _, check := range []func() error{c.checkListen, c.checkNumbers, c.checkMode, c.checkIdentities, c.checkLog, c.checkSettings, c.checkEndpoints, c.checkStore, c.checkToolOutput} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkListen() error {
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return invalid("listen", "%q is not host:port", c.Listen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return invalid("listen", "%q is not a port (%d)", port, n)
	}
	if c.Data == "" {
		return invalid("data", "names no folder")
	}
	if c.Strategy == "" {
		return invalid("strategy", "names no strategy")
	}
	return nil
}

func (c *Config) checkNumbers() error {
	for _, n := range []struct {
		key                string
		value, least, most int64
	}{
		{"body_limit", c.BodyLimit, 1 << 10, 1 << 32},
		{"workers", int64(c.Workers), 1, 256},
		{"shutdown_seconds", int64(c.ShutdownSeconds), 0, 3600},
		{"recall_ms", int64(c.RecallMillis), 1, 60_000},
	} {
		if n.value < n.least || n.value > n.most {
			return invalid(n.key, "%d is not between %d and %d", n.value, n.least, n.most)
		}
	}
	return nil
}

func (c *Config) checkIdentities() error {
	if err := safe("identity", c.Identity.Account, c.Identity.User); err != nil {
		return err
	}
	for i, k := range c.Keys {
		key := fmt.Sprintf("keys[%d]", i)
		if k.given() != 1 {
			return invalid(key, "give one of key, key_env and sha256")
		}
		if !slices.Contains([]skald.Rank{"", skald.RankUser, skald.RankAdmin}, k.Role) {
			return invalid(key+".role", "%q is not user or admin", k.Role)
		}
		if err := safe(key, k.Account, k.User); err != nil {
			return err
		}
	}
	return nil
}

// given counts how many forms of a key there are.
func (k Key) given() (n int) {
	for _, v := range []string{k.Key, k.Env, k.SHA256} {
		if v != "" {
			n++
		}
	}
	return n
}

func (c *Config) checkMode() error {
	switch {
	case !slices.Contains([]string{"", "api_key", "trusted", "dev"}, c.AuthMode):
		return invalid("auth_mode", "%q is not api_key, trusted or dev", c.AuthMode)
	case c.Dev && c.AuthMode != "" && c.AuthMode != "dev":
		return invalid("auth_mode", "is %q, and dev is set: leave one of them out", c.AuthMode)
	case c.Root().given() > 1:
		return invalid("root_api_key", "give one of root_api_key, root_api_key_env and root_api_key_sha256")
	}
	return nil
}

// safe lets account and user be empty (the default) or safe identifiers.
func safe(key, account, user string) error {
	if account != "" && !skald.SafeID(account) {
		return invalid(key+".account", "has letters, digits and _@.- only")
	}
	if user != "" && !skald.SafeID(user) {
		return invalid(key+".user", "has letters, digits and _@.- only")
	}
	return nil
}

func (c *Config) checkLog() error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		return invalid("log.level", "%q is not debug, info, warn or error", c.Log.Level)
	}
	if !slices.Contains([]string{"text", "json"}, c.Log.Format) {
		return invalid("log.format", "%q is not text or json", c.Log.Format)
	}
	return nil
}

func (c *Config) checkSettings() error {
	s := c.Settings
	for key, v := range map[string]*float64{
		"recallScoreThreshold": s.RecallScoreThreshold, "compactCommitThreshold": s.CompactCommitThreshold,
	} {
		if v != nil && (*v < 0 || *v > 1) {
			return invalid("settings."+key, "%v is not between 0 and 1", *v)
		}
	}
	for key, v := range map[string]*int{
		"recallLimit": s.RecallLimit, "recallMaxContentChars": s.RecallMaxContentChars, "recallTokenBudget": s.RecallTokenBudget,
		"recentRawTurnCount": s.RecentRawTurnCount, "assembleRecallWindow": s.AssembleRecallWindow,
		"commitTokenThreshold": s.CommitTokenThreshold, "memoryExpandMaxResults": s.MemoryExpandMaxResults,
	} {
		if v != nil && *v < 0 {
			return invalid("settings."+key, "%d is negative", *v)
		}
	}
	if !slices.Contains([]string{"", "auto", "tool", "text"}, s.RecallForm) {
		return invalid("settings.recallForm", "%q is not auto, tool or text", s.RecallForm)
	}
	return nil
}

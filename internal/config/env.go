package config

import "strconv"

// fromEnv puts SKALD_* variables over c. Empty ones count as not set. Others of that prefix belong to other programs.
func (c *Config) fromEnv(env func(string) (string, bool)) error {
	for name, to := range map[string]*string{
		"SKALD_LISTEN": &c.Listen, "SKALD_DATA": &c.Data, "SKALD_STRATEGY": &c.Strategy, "SKALD_AUTH_MODE": &c.AuthMode,
		"SKALD_ACCOUNT": &c.Identity.Account, "SKALD_USER": &c.Identity.User,
		"SKALD_STORE": &c.Store, "SKALD_STORE_URL": &c.StoreURL, "SKALD_STORE_KEY": &c.StoreKey,
		"SKALD_STORE_ACCOUNT": &c.StoreAccount, "SKALD_STORE_USER": &c.StoreUser, "SKALD_STORE_AGENT": &c.StoreAgent,
		"SKALD_LOG_LEVEL": &c.Log.Level, "SKALD_LOG_FORMAT": &c.Log.Format,
	} {
		if v, ok := env(name); ok && v != "" {
			*to = v
		}
	}
	for name, to := range map[string]*int{"SKALD_WORKERS": &c.Workers, "SKALD_SHUTDOWN_SECONDS": &c.ShutdownSeconds, "SKALD_RECALL_MS": &c.RecallMillis} {
		if v, ok := env(name); ok && v != "" {
			n, err := strconv.Atoi(v)
			if err != nil {
				return invalid(name, "%q is not a whole number", v)
			}
			*to = n
		}
	}
	if v, ok := env("SKALD_BODY_LIMIT"); ok && v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return invalid("SKALD_BODY_LIMIT", "%q is not a whole number", v)
		}
		c.BodyLimit = n
	}
	for name, to := range map[string]*bool{"SKALD_DEV": &c.Dev, "SKALD_MEANING": &c.Meaning} {
		if v, ok := env(name); ok && v != "" {
			on, err := parseSwitch(v)
			if err != nil {
				return invalid(name, "%q is neither true nor false", v)
			}
			*to = on
		}
	}
	return nil
}

// parseSwitch reads on and off beside the forms of strconv.ParseBool.
func parseSwitch(v string) (bool, error) {
	switch v {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return strconv.ParseBool(v)
}

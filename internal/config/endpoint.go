package config

import (
	"net/url"
	"regexp"
)

// Endpoint is a model behind an OpenAI-compatible API. The key itself is never in the file.
type Endpoint struct {
	URL    string `json:"url"`     // base URL, for example http://127.0.0.1:11434/v1; "" means none
	Name   string `json:"name"`    // the model's name there
	KeyEnv string `json:"key_env"` // the environment variable that holds the key; "" means the endpoint asks for none
}

// Key reads the endpoint's key out of its variable; "" when it asks for none, or the variable is empty. env is os.Getenv.
func (e Endpoint) Key(env func(string) string) string {
	if e.KeyEnv == "" {
		return ""
	}
	return env(e.KeyEnv)
}

// variable is the name of an environment variable; a key pasted in its place is none.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// Check says what is wrong with an endpoint; key names it in the configuration.
func (e Endpoint) Check(key string) error {
	if e == (Endpoint{}) {
		return nil
	}
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return invalid(key+".url", "%q is not a base URL like http://127.0.0.1:11434/v1", e.URL)
	case u.User != nil:
		return invalid(key+".url", "holds a password: give the key by key_env")
	case e.Name == "":
		return invalid(key+".name", "names no model")
	case e.KeyEnv != "" && !variable.MatchString(e.KeyEnv):
		return invalid(key+".key_env", "is not the name of an environment variable (the key itself does not belong here)")
	}
	return nil
}

func (c *Config) checkEndpoints() error {
	if err := c.Model.Check("model"); err != nil {
		return err
	}
	return c.Embedding.Check("embedding")
}

package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want RemoteStore
		on   bool
	}{
		"nothing": {},
		"local in spite of a URL": {env: map[string]string{"SKALD_STORE": "local", "SKALD_STORE_URL": "http://ov:1933"},
			want: RemoteStore{URL: "http://ov:1933"}},
		"a URL alone": {env: map[string]string{"SKALD_STORE_URL": "http://ov:1933", "SKALD_STORE_KEY": "k"},
			want: RemoteStore{URL: "http://ov:1933", Key: "k"}, on: true},
		"trusted": {env: map[string]string{"SKALD_STORE": "openviking", "SKALD_STORE_URL": "http://ov:1933", "SKALD_STORE_ACCOUNT": "a", "SKALD_STORE_USER": "u", "SKALD_STORE_AGENT": "main"},
			want: RemoteStore{URL: "http://ov:1933", Account: "a", User: "u", Agent: "main"}, on: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Default()
			if err := cfg.fromEnv(func(n string) (string, bool) { v, ok := c.env[n]; return v, ok }); err != nil {
				t.Fatal(err)
			}
			if err := cfg.checkStore(); err != nil {
				t.Fatal(err)
			}
			got, on := cfg.Remote()
			if d := cmp.Diff(c.want, got); d != "" || on != c.on {
				t.Errorf("on %v, want %v; -want +got\n%s", on, c.on, d)
			}
		})
	}
}

// The plugin's names of the file's keys are read too.
func TestRemotePluginNames(t *testing.T) {
	t.Parallel()
	c := Default()
	warnings, err := c.merge([]byte(`{"store": "openviking", "baseUrl": "http://ov:1933", "apiKey": "k"}`))
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	got, on := c.Remote()
	if want := (RemoteStore{URL: "http://ov:1933", Key: "k"}); got != want || !on {
		t.Errorf("%+v %v", got, on)
	}
}

func TestRemoteMistakes(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]Config{
		"store":           {Store: "postgres"},
		"store_url":       {Store: "openviking", StoreURL: "ov:1933"},
		"store_key_env":   {StoreURL: "http://ov", StoreKeyEnv: "not a name"},
		"store.account":   {StoreURL: "http://ov", StoreAccount: "a/b"},
		"store_url needs": {Store: "openviking"},
	} {
		if err := c.checkStore(); err == nil {
			t.Errorf("%s: no error", field)
		}
	}
}

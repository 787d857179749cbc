package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/server"
)

// A configured key is a key of the server.
var _ = server.Key(config.Key{})

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestDefaultsAreValid(t *testing.T) {
	t.Setenv("HOME", "/home/kim")
	c, warnings, err := config.Load("", env(nil))
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:1933" || c.Data != "/home/kim/.skald" || c.BodyLimit != 64<<20 {
		t.Errorf("%+v", c)
	}
}

func TestFileThenEnvironment(t *testing.T) {
	t.Parallel()
	path := write(t, `{"listen":"127.0.0.1:1","data":"/d","workers":4,"keys":[{"key_env":"K","user":"bob"}],
		"settings":{"recallLimit":0,"autoRecall":false},"log":{"level":"debug"}}`)
	c, warnings, err := config.Load(path, env(map[string]string{"SKALD_LISTEN": "127.0.0.1:2", "SKALD_DEV": "true", "SKALD_WORKERS": ""}))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := config.Default()
	limit, off := 0, false
	want.Listen, want.Data, want.Workers, want.Dev = "127.0.0.1:2", "/d", 4, true
	want.Keys = []config.Key{{Env: "K", User: "bob"}}
	want.Settings = skald.Settings{RecallLimit: &limit, AutoRecall: &off}
	want.Log.Level = "debug"
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknownKeysWarn(t *testing.T) {
	t.Parallel()
	path := write(t, `{"Listen":"x","lissten":"y","settings":{"recallLimits":1},"keys":[{"key":"k","usr":"z"}],"log":{"colour":true}}`)
	c, warnings, err := config.Load(path, env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != config.Default().Listen {
		t.Errorf("a misspelt key was taken: %q", c.Listen)
	}
	all := strings.Join(warnings, "\n")
	for _, key := range []string{`"Listen"`, `"lissten"`, `"settings.recallLimits"`, `"keys[0].usr"`, `"log.colour"`} {
		if !strings.Contains(all, key) {
			t.Errorf("no warning for %s in:\n%s", key, all)
		}
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		`{"listen":"nowhere"}`: "listen", `{"listen":"x:99999"}`: "listen", `{"data":""}`: "data", `{"workers":0}`: "workers",
		`{"workers":"two"}`: "workers", `{"body_limit":-1}`: "body_limit", `{"shutdown_seconds":-1}`: "shutdown_seconds",
		`{"log":{"level":"loud"}}`: "log.level", `{"log":{"format":"xml"}}`: "log.format", `{"log":{"format":7}}`: "log.format",
		`{"identity":{"user":"a/b"}}`: "identity.user", `{"keys":[{"key":"a","sha256":"b"}]}`: "keys[0]",
		`{"keys":[{"key":"a","account":"../x"}]}`: "keys[0].account", `{"settings":{"recallScoreThreshold":2}}`: "settings.recallScoreThreshold",
		`{"settings":{"recallLimit":-1}}`: "settings.recallLimit", `{"settings":{"recallForm":"x"}}`: "settings.recallForm",
	} {
		c, _, err := config.Load(write(t, text), env(nil))
		if err == nil {
			err = c.Finish()
		}
		var e *skald.Error
		if !errors.As(err, &e) || e.Field != key {
			t.Errorf("%s: %v, want the key %s", text, err, key)
		}
	}
	for _, text := range []string{`{`, `[]`, `null trailing`} {
		if _, _, err := config.Load(write(t, text), env(nil)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// CLI-01: a missing file is named.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	_, _, err := config.Load("/no/such/skald.json", env(nil))
	if err == nil || !strings.Contains(err.Error(), "/no/such/skald.json") {
		t.Errorf("%v", err)
	}
	if _, _, err := config.Load("", env(map[string]string{"SKALD_DEV": "perhaps"})); err == nil || !strings.Contains(err.Error(), "SKALD_DEV") {
		t.Errorf("%v", err)
	}
}

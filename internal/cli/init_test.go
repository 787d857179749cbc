package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// TestCLI01NothingIsAskedOfAStranger: where nothing is set up, a command ends with what is missing and what to do, and whatever
// listens where a daemon would gets no request.
func TestCLI01NothingIsAskedOfAStranger(t *testing.T) {
	home := alone(t)
	var asked atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer stranger.Close()
	t.Setenv("SKALD_LISTEN", strings.TrimPrefix(stranger.URL, "http://"))
	for _, command := range []string{"sessions", "status", "ls", "verify"} {
		code, stdout, stderr := call(t.Context(), command)
		if code != exitUnavailable || stdout != "" {
			t.Errorf("%s: exit %d, %q", command, code, stdout)
		}
		for _, want := range []string{filepath.Join(home, ".skald", "config.json"), filepath.Join(home, ".skald", "key"), "`skald init`", "`skald serve`"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s does not name %s: %s", command, want, stderr)
			}
		}
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests went to a stranger", asked.Load())
	}
	if code, _, stderr := call(t.Context(), "status", "--server", stranger.URL); code != exitFailure || !strings.Contains(stderr, "is not Skald") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// setUp runs `skald init` at a terminal that takes lines, in a home of its own.
func setUp(t *testing.T, home, answers string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	s := newShell(&out, &err)
	s.in = iotest.OneByteReader(strings.NewReader(answers))
	env := map[string]string{"TERM": "dumb", "MODEL_KEY": "secret-of-the-endpoint"}
	s.env = func(name string) string { return env[name] }
	s.look = func(any) screen { return screen{tty: true, width: 80} }
	code = s.run(t.Context(), append([]string{"init", "--config", filepath.Join(home, "config.json")}, args...))
	return code, out.String(), err.String()
}

// alone keeps what is installed on this machine out of a test.
func alone(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		t.Setenv(name, filepath.Join(home, "none"))
	}
	t.Setenv("SKALD_CONFIG", "")
	t.Setenv("SKALD_DATA", "")
	t.Setenv("SKALD_LISTEN", "127.0.0.1:1") // where nobody listens
	return home
}

// endpoint is an OpenAI-compatible API that counts its calls.
func endpoint(t *testing.T) (url string, calls *atomic.Int32) {
	t.Helper()
	calls = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var ask struct{ Model string }
		switch {
		case r.Header.Get("Authorization") != "Bearer secret-of-the-endpoint":
			w.WriteHeader(http.StatusUnauthorized)
		case json.NewDecoder(r.Body).Decode(&ask) != nil || ask.Model != "small" || r.URL.Path != "/v1/chat/completions":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error": "no such model"}`))
		default:
			_, _ = w.Write([]byte(`{"choices": [{"message": {"content": "ok"}}]}`))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", calls
}

func TestInitAsks(t *testing.T) {
	home := alone(t)
	url, calls := endpoint(t)
	data := filepath.Join(home, "data")
	answers := strings.Join([]string{
		"relative/path", data, // asked again
		"not a name", "kim",
		"y", url, "large", "MODEL_KEY", // the endpoint does not have it
		"y", url, "small", "MODEL_KEY",
		"n", // no embedding
	}, "\n") + "\n"
	code, stdout, stderr := setUp(t, home, answers)
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	for _, want := range []string{"give a whole path", "letters, digits", "no such model", "not used by this version"} {
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("%q is not said:\n%s%s", want, stdout, stderr)
		}
	}
	if calls.Load() != 3 { // the wrong name, the right one, and the check before it is stored
		t.Errorf("%d calls", calls.Load())
	}
	file, err := os.ReadFile(filepath.Join(home, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"user": "kim"`, `"name": "small"`, `"key_env": "MODEL_KEY"`} {
		if !strings.Contains(string(file), want) {
			t.Errorf("%s is missing in %s", want, file)
		}
	}
	if strings.Contains(string(file)+stdout+stderr, "secret-of-the-endpoint") {
		t.Error("the key was written")
	}
	if _, err := os.Stat(filepath.Join(data, "skald.db")); err != nil {
		t.Error(err)
	}
}

// TestInitKeepsWhatIsThere: the answers that are offered are the configured ones, and a replacement is asked for.
func TestInitKeepsWhatIsThere(t *testing.T) {
	home := alone(t)
	if code, stdout, stderr := setUp(t, home, filepath.Join(home, "data")+"\nkim\nn\nn\n"); code != 0 {
		t.Fatal(stdout, stderr)
	}
	before, _ := os.ReadFile(filepath.Join(home, "config.json"))
	for name, c := range map[string]struct {
		answers string
		code    int
	}{
		"enter on everything":  {"\n\n\n\n", exitOK},
		"a change, taken back": {"\nlee\n\n\nn\n", exitInvalid},
		"the input ends":       {"\nlee\n", exitFailure},
	} {
		if code, stdout, stderr := setUp(t, home, c.answers); code != c.code {
			t.Errorf("%s: exit %d, want %d: %s%s", name, code, c.code, stdout, stderr)
		}
		if after, _ := os.ReadFile(filepath.Join(home, "config.json")); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed: %s", name, after)
		}
	}
	if code, stdout, _ := setUp(t, home, "\nlee\n\n\ny\n"); code != 0 || !strings.Contains(stdout, "change identity.user from kim to lee") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// TestInitOffersWhatItFinds: hosts and histories are listed, brought in when wished, and else named as the next step.
func TestInitOffersWhatItFinds(t *testing.T) {
	home := alone(t)
	if err := os.WriteFile(filepath.Join(home, "openclaw.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPENCLAW_CONFIG_PATH", filepath.Join(home, "openclaw.json"))
	code, stdout, stderr := call(t.Context(), "init", "--yes", "--json", "--dry-run", "--config", filepath.Join(home, "c.json"), "--data", filepath.Join(home, "d"))
	var r initReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	found := ""
	for _, o := range r.Found {
		found += o.Kind + " " + o.Name + "; "
	}
	if !strings.Contains(found, "host openclaw") || !strings.Contains(strings.Join(r.Next, "; "), "skald openclaw install") {
		t.Errorf("found %s, next %v", found, r.Next)
	}
}

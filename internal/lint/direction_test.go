// Package lint holds tests of the repository itself.
package lint

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/skald-engine/skald"

// layers orders the rooms from the nouns outward: a room imports only rooms of a lower number, or of its own. Leaves (store, index,
// message) know the root only.
var layers = []struct {
	prefix string
	level  int
}{
	{"", 0}, // the root package
	{"/message", 1},
	{"/model/static", 1}, // a table, knows nobody
	{"/openclaw", 1},     // the built plugin, embedded
	{"/index", 2},
	{"/store", 2},
	{"/store/openviking", 4},  // makes archives and memories anew from what the server has
	{"/client/openviking", 1}, // a client of OpenViking, knows nobody
	{"/model", 2},
	{"/model/openai", 2},  // models behind an OpenAI-compatible API
	{"/model/meaning", 3}, // a store that embeds
	{"/recall", 3},
	{"/tree", 3},      // files: resources, skills, notes
	{"/tree/view", 5}, // the whole tree as one identity sees it
	{"/tree/pack", 3}, // a folder as one zip file
	{"/archive", 3},
	{"/skill", 4},  // skills: read, check, keep, find
	{"/tenant", 3}, // accounts, users, keys
	{"/memory", 4}, // implements archive's Extractor
	{"/strategy", 5},
	{"/strategy/strategytest", 8}, // drives an engine
	{"/resource", 5},              // fetching, reading and importing; watches and uploads
	{"/engine", 6},
	{"/server/wire", 6}, // what server and client say to each other
	{"/server", 7},
	{"/client", 7},
	{"/slot", 7}, // one engine in a host, guarded
	{"/internal/config", 7},
	{"/internal/obs", 7},
	{"/host", 7},   // where agent programs keep their things; install, prove, uninstall
	{"/ingest", 8}, // reads what they kept
	{"/bench", 8},
	{"/trial", 9},
	{"/internal/launch", 8}, // starts a daemon where none answers
	{"/internal/hook", 9},   // what the hooks of an agent program do
	{"/internal/app", 10},
	{"/internal/cli", 11},
	{"/cmd", 12},
	{"/release", 12},
	{"/test", 13},
	{"/examples", 13},
	{"/internal/lint", 13},
}

func level(path string) int {
	rest := strings.TrimPrefix(path, module)
	best, at := -1, -1
	for _, l := range layers {
		if (rest == l.prefix || l.prefix != "" && strings.HasPrefix(rest, l.prefix+"/")) && len(l.prefix) > at {
			best, at = l.level, len(l.prefix)
		}
	}
	return best
}

type pkg struct {
	ImportPath string
	Imports    []string
}

// TestImportDirection fails on an import against the direction of the design page.
func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		from := level(p.ImportPath)
		if from < 0 {
			t.Errorf("%s stands in no room: add it to layers", p.ImportPath)
		}
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) {
				if from == 0 && strings.Contains(strings.SplitN(i, "/", 2)[0], ".") {
					t.Errorf("the root package imports %s: the standard library only", i)
				}
				continue
			}
			to := level(i)
			if to > from || to == from && !sameRoom(p.ImportPath, i) {
				t.Errorf("%s (level %d) imports %s (level %d)", p.ImportPath, from, i, to)
			}
			if strings.HasPrefix(i, module+"/store/") && from > 2 && from < 8 {
				t.Errorf("%s knows a concrete store: %s", p.ImportPath, i)
			}
		}
	}
}

func sameRoom(a, b string) bool { return room(a) == room(b) }

func room(path string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func packages(t *testing.T) (list []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

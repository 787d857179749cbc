package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// endpoint is a method and a path with {names} of OpenViking.
type endpoint struct {
	method, path string
	pattern      *regexp.Regexp
}

func (e endpoint) String() string { return e.method + " " + e.path }

func parseEndpoint(text string) (endpoint, bool) {
	method, path, ok := strings.Cut(text, " ")
	expr := place.ReplaceAllString(regexp.QuoteMeta(path), "[^/?]+")
	if strings.HasSuffix(path, "{resource_path}") {
		expr = strings.TrimSuffix(expr, "[^/?]+") + ".+"
	}
	return endpoint{method, path, regexp.MustCompile("^" + expr + `/?$`)}, ok
}

func readEndpoints(t *testing.T) (list []endpoint) {
	t.Helper()
	b, err := os.ReadFile("testdata/endpoints.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e, ok := parseEndpoint(line)
		if !ok {
			t.Fatalf("endpoints.txt: %q is not `METHOD path`", line)
		}
		list = append(list, e)
	}
	return list
}

// of finds the endpoint of a request: of several, the one with the fewest names.
func of(list []endpoint, method, path string) (best endpoint, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	for _, e := range list {
		if e.method == method && e.pattern.MatchString(path) && (!ok || strings.Count(e.path, "{") < strings.Count(best.path, "{")) {
			best, ok = e, true
		}
	}
	return best, ok
}

// TestEveryEndpointIsAsked: a row of the table without a request, and a request of none, fail.
func TestEveryEndpointIsAsked(t *testing.T) {
	t.Parallel()
	list := readEndpoints(t)
	asked := map[string]bool{}
	for _, a := range readAsks(t) {
		e, ok := of(list, a.method, a.path)
		if !ok && a.status != 404 && a.status != 405 {
			t.Errorf("%s is no endpoint of endpoints.txt", a.step())
		}
		asked[e.String()] = true
	}
	for _, e := range list {
		if !asked[e.String()] {
			t.Errorf("no line of http.txt asks %s", e)
		}
	}
}

// routes are the patterns in the sources of Skald's server.
var routes = regexp.MustCompile(`"(?:(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|[A-Z]+) )?(/(?:api/v1|webdav|bot/v1)/[^"\s]*)"`)

// ours are routes under /api/v1 that OpenViking does not have.
var ours = map[string]string{
	"POST /api/v1/sessions/{id}/archives/{archive}/retry": "a failed archive is tried again",
}

// TestEveryRouteIsListed: a route that Skald's server has belongs to an endpoint of the table, or is one of its own.
func TestEveryRouteIsListed(t *testing.T) {
	t.Parallel()
	list := readEndpoints(t)
	for method, path := range serverRoutes(t) {
		if ours[method+" "+path] != "" || method == "" && !strings.Contains(path, "{") { // without either it is a prefix, no route
			continue
		}
		if !slices.ContainsFunc(list, func(e endpoint) bool { return (method == "" || method == e.method) && covers(path, e.path) }) {
			t.Errorf("%s %s is a route of the server, and stands in no row of endpoints.txt", method, path)
		}
	}
}

var place = regexp.MustCompile(`\\\{[^}]*\\\}`)

// covers tells whether a pattern of the server's mux takes a path of the table.
func covers(pattern, path string) bool {
	expr := regexp.QuoteMeta(pattern)
	expr = regexp.MustCompile(`\\\{[^}]*\\\.\\\.\\\.\\\}`).ReplaceAllString(expr, ".*")
	expr = place.ReplaceAllString(expr, "[^/]+")
	if strings.HasSuffix(pattern, "/") {
		expr += ".*"
	}
	return regexp.MustCompile("^" + expr + "$").MatchString(path)
}

func serverRoutes(t *testing.T) func(yield func(method, path string) bool) {
	return func(yield func(string, string) bool) {
		err := filepath.WalkDir("../../server", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range routes.FindAllStringSubmatch(string(b), -1) {
				if !yield(m[1], m[2]) {
					return fs.SkipAll
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

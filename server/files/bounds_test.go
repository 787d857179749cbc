package files_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/skald-engine/skald/server/api"
)

// fading is the context of a call that ends after so many looks at it.
type fading struct {
	context.Context
	left *int
}

func (f fading) Err() error {
	if *f.left--; *f.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// The end of a call ends a search in one long line, too.
func TestGrepEndsWithinALongLine(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.write("viking://resources/long.txt", strings.Repeat("a", 1<<20)+"\n")
	left := 100
	_, err := d.files.Grep(fading{t.Context(), &left}, ann, api.GrepQuery{URI: "viking://resources/long.txt", Pattern: regexp.MustCompile("(a|aa)+b")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if left < -100 {
		t.Errorf("it went on, and looked %d times more", -left)
	}
	whole, err := d.files.Grep(t.Context(), ann, api.GrepQuery{URI: "viking://resources/long.txt", Pattern: regexp.MustCompile("a{9}$")})
	if err != nil || len(whole.Matches) != 1 {
		t.Errorf("%v %v", whole, err)
	}
}

// A pattern whose time grows out of proportion is refused: thirty times {a,aa} against a long name would take hours.
func TestPatternsAreBounded(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.write("viking://resources/"+strings.Repeat("a", 45)+".md", "x")
	for _, c := range []struct {
		route, pattern string
		fits           bool
	}{
		{"glob", strings.Repeat("{a,aa}", 30) + "b", false},
		{"glob", strings.Repeat("{a,{aa,aaa}}", 30) + "b", false},
		{"glob", "[{]" + strings.Repeat("{a,aa}", 30), false},
		{"glob", "[}]" + strings.Repeat("{a[}],aa}", 30), false},
		{"glob", "{" + strings.Repeat("x,", 998) + "aa*}", true},
		{"glob", "{a,b}{a,b}{a,b}*.{md,txt}", true},
		{"grep", strings.Repeat("x", 1000), true},
		{"grep", strings.Repeat("x", 1001), false},
		{"grep", strings.Repeat("é", 1000), true},
		{"grep", strings.Repeat("(x{1000})|", 4), true},
		{"grep", strings.Repeat("(x{1000})|", 6), false},
	} {
		body := jsonOf(t, object{"uri": "viking://resources", "pattern": c.pattern})
		status, answer := d.call("POST", "/api/v1/search/"+c.route, body)
		if want := map[bool]int{true: 200, false: 400}[c.fits]; status != want {
			t.Errorf("%s %.40s: %d %.300s", c.route, c.pattern, status, answer)
		}
	}
	filter := jsonOf(t, object{"query": "x", "filter": object{"op": "regex", "field": "abstract", "pattern": "a{900}|b{900}|c{900}|d{900}|e{900}|f{900}"}})
	d.fails(400, "", "POST", "/api/v1/search/find", filter)
}

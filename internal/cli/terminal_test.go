package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// on is a shell whose streams are a terminal of some width, or none (width 0), in an environment.
func on(out *bytes.Buffer, width int, env map[string]string) *shell {
	s := newShell(out, out)
	s.env = func(name string) string { return env[name] }
	s.look = func(any) screen { return screen{tty: width > 0, width: width} }
	return s
}

func TestColours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode  colorMode
		width int
		env   map[string]string
		want  bool
	}{
		{colorAuto, 80, nil, true},
		{colorAuto, 0, nil, false},
		{colorAuto, 80, map[string]string{"NO_COLOR": "1"}, false},
		{colorAuto, 80, map[string]string{"NO_COLOR": ""}, true},
		{colorAuto, 80, map[string]string{"CLICOLOR": "0"}, false},
		{colorAuto, 80, map[string]string{"TERM": "dumb"}, false},
		{colorNever, 80, nil, false},
		{colorAlways, 0, nil, true},
		{colorAlways, 0, map[string]string{"NO_COLOR": "1"}, true},
	} {
		var out bytes.Buffer
		s := on(&out, c.width, c.env)
		s.color = c.mode
		p := s.page(s.out)
		table(p, [][]string{{"NAME", "N"}, {"a", "1"}})
		p.Flush()
		if got := strings.Contains(out.String(), "\x1b["); got != c.want {
			t.Errorf("%+v: colours %v, want %v: %q", c, got, c.want, out.String())
		}
	}
}

// TestTableFollowsTheTerminal: columns stand under each other whatever the script, and the last one is wrapped, not cut.
func TestTableFollowsTheTerminal(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"NAME", "N", "TEXT"}, {"报告", "1", "one two three four five six seven eight"}, {"plain", "22", "short"}}
	var wide, narrow bytes.Buffer
	p := on(&wide, 0, nil).page(&wide)
	table(p, rows)
	p.Flush()
	if want := "NAME   N   TEXT\n报告   1   one two three four five six seven eight\nplain  22  short\n"; wide.String() != want {
		t.Errorf("got\n%s\nwant\n%s", wide.String(), want)
	}
	s := on(&narrow, 34, map[string]string{"NO_COLOR": "1"})
	p = s.page(&narrow)
	table(p, rows)
	p.Flush()
	want := "NAME   N   TEXT\n报告   1   one two three four five\n           six seven eight\nplain  22  short\n"
	if narrow.String() != want {
		t.Errorf("got\n%s\nwant\n%s", narrow.String(), want)
	}
}

func TestHelpFollowsTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := on(&out, 60, map[string]string{"TERM": "dumb"})
	if code := s.run(t.Context(), []string{"help", "verify"}); code != 0 {
		t.Fatal(out.String())
	}
	about, _, _ := strings.Cut(out.String(), "Examples:")
	for _, l := range strings.Split(about, "\n") {
		if len(l) > 60 {
			t.Errorf("longer than the terminal is wide: %q", l)
		}
	}
}

// TestNotesAreForPeople: with --quiet or --json standard error holds errors only.
func TestNotesAreForPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quiet, json bool
		want        string
	}{{false, false, "hello\n"}, {true, false, ""}, {false, true, ""}} {
		var out bytes.Buffer
		s := on(&out, 80, nil)
		s.quiet, s.json = c.quiet, c.json
		s.note("hello")
		if out.String() != c.want {
			t.Errorf("%+v: %q", c, out.String())
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := lookAt(f); got.tty {
		t.Errorf("%+v", got)
	}
}

package trial

import (
	"encoding/json"
	"testing"

	"github.com/skald-engine/skald/message"
)

func TestLooksOnly(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"cat go.mod":                           true,
		"cd src && cat a.go | head -20":        true,
		"grep -rn 'func main' . 2>/dev/null":   true,
		"git show 9c41e7d --stat":              true,
		"sed -n 1,40p main.go":                 true,
		"cd src":                               false,
		"sed -i s/a/b/ main.go":                false,
		"find . -name x -delete":               false,
		"cat a > b":                            false,
		"cat `date`":                           false,
		"rm -rf build":                         false,
		"go test ./...":                        false,
		"git status":                           false,
		"git log --oneline":                    false,
		"tail -f app.log":                      false,
		"date":                                 false,
		"cat a.go && python run.py":            false,
		"awk 'BEGIN { system(\"rm x\") }' a":   false,
		"":                                     false,
		"curl http://127.0.0.1:8080/api/users": false,
	} {
		if got := looksOnly(command); got != want {
			t.Errorf("looksOnly(%q) = %v, want %v", command, got, want)
		}
	}
}

func TestSameCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b [2]string
		want bool
	}{
		{[2]string{"read", `{"path":"src/a.go"}`}, [2]string{"Read", `{"path":"./src//a.go"}`}, true},
		{[2]string{"read", `{"path":"src/a.go","limit":10,"offset":5}`}, [2]string{"read", `{"offset":5,"limit":10,"path":"src/a.go"}`}, true},
		{[2]string{"bash", `{"command":"cat  a.go"}`}, [2]string{"bash", `{"command":"cat a.go","timeout":30}`}, true},
		{[2]string{"read", `{"path":"src/a.go"}`}, [2]string{"read", `{"path":"src/b.go"}`}, false},
		{[2]string{"read", `{"path":"src/a.go"}`}, [2]string{"read", `{"path":"src/a.go","offset":100}`}, false},
		{[2]string{"bash", `{"command":"cat a.go"}`}, [2]string{"bash", `{"command":"cat A.go"}`}, false},
	} {
		a, b := callOf(c.a), callOf(c.b)
		if a.kind == "" || b.kind == "" || (a.key == b.key) != c.want {
			t.Errorf("%v and %v: keys %q and %q, same wanted: %v", c.a, c.b, a.key, b.key, c.want)
		}
	}
}

func callOf(c [2]string) call {
	return readCall(message.Block{Kind: message.KindToolCall, Name: c[0], Arguments: json.RawMessage(c[1])}, place{})
}

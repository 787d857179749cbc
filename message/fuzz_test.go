package message

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{}`, userHi, missing1, call("a", "a"), `{"content":[{"type":"image","data":"x"}]}`, `{"role":"tool","content":[{"type":"tool_result","content":{}}]}`,
		"{\"role\":\"user\",\"content\":\"\x00\xff\"}", `{"content":"\ud800\udc00\u12"}`, `{"role":"assistant","content":[{"functionCall":{"name":"x"}}]}`,
		`{"role":"assistant","content":[{"type":"toolCall","arguments":null}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if Tokens(raw) < 0 {
			t.Fatal("negative tokens")
		}
		MatchKey(raw)
		m, err := Parse(raw)
		if err != nil {
			return
		}
		m.Text()
		got := FixPairs([]json.RawMessage{raw, json.RawMessage(userHi)})
		for _, g := range got {
			if !json.Valid(g) {
				t.Fatalf("invalid JSON: %q", g)
			}
			ForModel(g, "p", "m")
			if s := Shorten(g, 20, "u"); !json.Valid(s) {
				t.Fatalf("Shorten: invalid JSON: %q", s)
			}
		}
		if bad := CheckPairs(got); bad != nil {
			t.Fatalf("%v: %s", bad, got)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	raw := User(strings.Repeat("Some English text with \"quotes\"\n", 2000), 1)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		Tokens(raw)
	}
}

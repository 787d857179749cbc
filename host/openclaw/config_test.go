package openclaw

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestReadRelaxed(t *testing.T) {
	t.Parallel()
	var c struct {
		A string   `json:"a"`
		B []string `json:"b-c"`
		D string   `json:"d"`
	}
	text := "// one\n{a: 'it\\'s \"x\"', /* two\n */ \"b-c\": [\"// no\", 'y',],\n d: \"{k: v,}\",}"
	if err := Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.A != `it's "x"` || len(c.B) != 2 || c.B[0] != "// no" || c.D != "{k: v,}" {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{"", "{", "{a:", "'", "/*", "{a: 'x}"} {
		if err := Unmarshal([]byte(bad), &c); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestOlder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{{"2026.7.9", "2026.8.1", true}, {"2026.8.1", "2026.8.1", false}, {"2026.10.1", "2026.8.1", false}, {"2026.8.1-beta.2", "2026.8.1", false}} {
		if Older(c.a, c.b) != c.want {
			t.Errorf("Older(%s, %s)", c.a, c.b)
		}
	}
}

// TestParseLikeJSON: every JSON text reads as encoding/json reads it.
func TestParseLikeJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text, err := json.Marshal(draw(rt, 3, "value"))
		if err != nil {
			rt.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			rt.Fatal(err)
		}
		n, err := parse(text)
		if err != nil || !same(n.value, want) || n.start != 0 || n.end != len(text) {
			rt.Fatalf("%s: %v %v", text, n, err)
		}
	})
}

// FuzzParse: no text makes the parser fail in another way than with an error, and what it takes can be edited.
func FuzzParse(f *testing.F) {
	for _, text := range []string{twoPlugins, `{a:'\x41\
b',c:[.5,+1,0x1f,],}`, "\ufeff{}", "{\"a\":\"\\ud83d\\ude00\"}", "[[[", "/*", "{a:1,a:2}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := parse(text)
		if err != nil || !n.object {
			return
		}
		added, err := set(text, []string{"skald added"}, true)
		if err != nil {
			t.Fatal(err)
		}
		back, err := remove(added, []string{"skald added"})
		if err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		again, err := parse(back)
		if err != nil {
			t.Fatalf("%q: %v", back, err)
		}
		_, had, _ := get(text, "skald added")
		if !had && !same(n.value, again.value) {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

package conformance

import (
	"encoding/json"
	"slices"
	"testing"
)

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDifferences: what would go unnoticed here, would go unnoticed in the whole suite.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, have string
		list       []string
	}{
		"same":             {`{"a":1}`, `{"a":2}`, nil},
		"another type":     {`{"a":1}`, `{"a":"x"}`, []string{`$.a: want number, have "string"`}},
		"null":             {`{"a":"x"}`, `{"a":null}`, []string{`$.a: want string, have "null"`}},
		"missing":          {`{"a":1,"b":2}`, `{"a":1}`, []string{"$.b: missing"}},
		"more":             {`{"a":1}`, `{"a":1,"b":2}`, []string{"$.b: not OpenViking's"}},
		"a value":          {`{"code":"NOT_FOUND"}`, `{"code":"INTERNAL"}`, []string{`$.code: want =NOT_FOUND, have "=INTERNAL"`}},
		"an id":            {`{"uri":"viking://a/0123456789abcdef01"}`, `{"uri":"viking://a/ffffffffffffffffff"}`, nil},
		"empty list":       {`{"l":[1]}`, `{"l":[]}`, []string{"$.l: the list is empty"}},
		"unasked list":     {`{"l":[]}`, `{"l":[1]}`, nil},
		"optional member":  {`[{"a":1,"b":2},{"a":1}]`, `[{"a":3}]`, nil},
		"either type":      {`[{"a":1},{"a":"x"}]`, `[{"a":"y"}]`, nil},
		"neither type":     {`[{"a":1},{"a":"x"}]`, `[{"a":true}]`, []string{`$[].a: want number|string, have "bool"`}},
		"object or scalar": {`{"a":{"b":1}}`, `{"a":1}`, []string{`$.a: want an object, have "number"`}},
	} {
		if list := Differences("$", Shape(decoded(t, c.want)), Shape(decoded(t, c.have))); !slices.Equal(list, c.list) {
			t.Errorf("%s: %q, want %q", name, list, c.list)
		}
	}
}

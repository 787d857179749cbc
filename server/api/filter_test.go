package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	skald "github.com/skald-engine/skald"
)

func parseJSON(t *testing.T, text string) (*Filter, error) {
	t.Helper()
	var given map[string]any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		t.Fatal(err)
	}
	return ParseFilter(given)
}

func parseURI(raw string) (skald.URI, error) {
	return skald.ParseURI(raw, skald.Identity{Account: "acme", User: "ann", Agent: "main"}, skald.Policy{})
}

// thing is what the filters of these tests are asked about.
var thing = map[string]any{
	FieldURI: skald.URI("viking://resources/guide/sub/a.md"), FieldType: "resource", FieldLevel: 2, FieldTags: []string{"Lang=en", "team=a"},
	FieldName: "a.md", FieldText: "Some text", FieldCreated: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	FieldUpdated: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), FieldUses: 3, FieldOwner: "", FieldAccount: "acme",
}

func known(field string) (any, bool) { return thing[field], true }

func TestFilterJudges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Verdict{
		`{"op":"must","field":"level","conds":[2]}`:                                                                     Yes,
		`{"op":"must","field":"level","conds":[0,1]}`:                                                                   No,
		`{"op":"must_not","field":"level","conds":[0,1]}`:                                                               Yes,
		`{"op":"must","field":"context_type","conds":["memory","resource"]}`:                                            Yes,
		`{"op":"must","field":"context_type","conds":["Resource"]}`:                                                     No,
		`{"op":"must","field":"tags","conds":["lang=EN"]}`:                                                              Yes,
		`{"op":"must","field":"search_tags","conds":["team=b","team=a"]}`:                                               Yes,
		`{"op":"must_not","field":"tags","conds":["team=a"]}`:                                                           No,
		`{"op":"must","field":"uri","conds":["viking://resources/guide/"]}`:                                             Yes,
		`{"op":"must","field":"uri","conds":["/resources/guide"]}`:                                                      Yes,
		`{"op":"must","field":"uri","conds":["viking://resources/gui"]}`:                                                No,
		`{"op":"must","field":"uri","conds":["viking://"]}`:                                                             Yes,
		`{"op":"must","field":"uri","conds":["viking://resources/guide"],"para":"-d=1"}`:                                No,
		`{"op":"must","field":"uri","conds":["viking://resources/guide"],"para":"-d=2"}`:                                Yes,
		`{"op":"must","field":"uri","conds":["viking://resources/guide/sub/a.md"],"para":"-d=0"}`:                       Yes,
		`{"op":"prefix","field":"uri","prefix":"viking://resources/gui"}`:                                               Yes,
		`{"op":"prefix","field":"uri","prefix":"viking://resources/guide/sub/a/"}`:                                      No,
		`{"op":"prefix","field":"name","prefix":"a."}`:                                                                  Yes,
		`{"op":"contains","field":"abstract","substring":"text"}`:                                                       Yes,
		`{"op":"contains","field":"abstract","substring":"TEXT"}`:                                                       No,
		`{"op":"contains","field":"tags","substring":"team"}`:                                                           Yes,
		`{"op":"regex","field":"name","pattern":"^[a-c]\\.md$"}`:                                                        Yes,
		`{"op":"range","field":"active_count","gt":2,"lte":3}`:                                                          Yes,
		`{"op":"range","field":"active_count","gt":3}`:                                                                  No,
		`{"op":"range_out","field":"active_count","gte":1,"lte":2}`:                                                     Yes,
		`{"op":"range_out","field":"active_count","gte":1,"lte":3}`:                                                     No,
		`{"op":"time_range","field":"updated_at","gte":"2026-03-02"}`:                                                   Yes,
		`{"op":"time_range","field":"updated_at","gt":"2026-03-02"}`:                                                    No, // after that day
		`{"op":"time_range","field":"updated_at","lte":"2026-03-02"}`:                                                   Yes,
		`{"op":"time_range","field":"updated_at","lt":"2026-03-02"}`:                                                    No,
		`{"op":"time_range","field":"created_at","gte":"2026-03-01T13:00:00+01:00"}`:                                    Yes,
		`{"op":"time_range","field":"created_at","gte":1772366400000,"lte":1772366400000}`:                              Yes,
		`{"op":"range","field":"created_at","lt":"2026-03-01T12:00:00Z"}`:                                               No,
		`{"op":"and","conds":[]}`:                                                                                       Yes,
		`{}`:                                                                                                            Yes,
		`{"op":"and","conds":[{"op":"must","field":"level","conds":[2]},{"op":"must","field":"name","conds":["b"]}]}`:   No,
		`{"op":"or","conds":[{"op":"must","field":"level","conds":[1]},{"op":"must","field":"name","conds":["a.md"]}]}`: Yes,
	} {
		f, err := parseJSON(t, text)
		if err == nil {
			err = f.Resolve(parseURI)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := f.Judge(known); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestFilterRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"op":"and","conds":[`, 20) + strings.Repeat(`]}`, 20)
	many := `{"op":"and","conds":[` + strings.Repeat(`{"op":"and"},`, 600) + `{"op":"and"}]}`
	for _, text := range []string{
		`{"op":"nope","field":"uri"}`, `{"field":"uri","conds":["x"]}`, `{"op":7}`, `{"op":"or","conds":[]}`, `{"op":"or"}`, `{"op":"and","conds":7}`,
		`{"op":"and","conds":[7]}`, `{"op":"must","conds":["x"]}`, `{"op":"must","field":"id","conds":["x"]}`, `{"op":"must","field":"level"}`,
		`{"op":"must","field":"level","conds":2}`, `{"op":"must","field":"level","conds":["2"]}`, `{"op":"must","field":"name","conds":[2]}`,
		`{"op":"must","field":"name","conds":[null]}`, `{"op":"must","field":"updated_at","conds":["2026-03-01"]}`,
		`{"op":"must","field":"uri","conds":["viking://resources"],"para":"deep"}`, `{"op":"range","field":"level"}`,
		`{"op":"range","field":"name","gte":1}`, `{"op":"range","field":"level","gte":"x"}`, `{"op":"time_range","field":"level","gte":1}`,
		`{"op":"time_range","field":"updated_at","gte":"never"}`, `{"op":"prefix","field":"name"}`, `{"op":"prefix","field":"level","prefix":"1"}`,
		`{"op":"contains","field":"name","substring":1}`, `{"op":"regex","field":"name","pattern":"("}`,
		`{"op":"regex","field":"name","pattern":"` + strings.Repeat("a", 501) + `"}`, deep, many,
	} {
		if _, err := parseJSON(t, text); skald.KindOf(err) == "" {
			t.Errorf("%.80s was taken", text)
		}
	}
}

// TestFilterIsSureOnlyWhenItKnows: whatever is not known yet, a verdict that is not Maybe is the one that comes out in the end.
func TestFilterIsSureOnlyWhenItKnows(t *testing.T) {
	t.Parallel()
	leaves := []string{`{"op":"must","field":"level","conds":[2]}`, `{"op":"must_not","field":"name","conds":["a.md"]}`,
		`{"op":"must","field":"tags","conds":["team=a"]}`, `{"op":"range","field":"active_count","gte":9}`}
	var draw func(r *rapid.T, depth int) string
	draw = func(r *rapid.T, depth int) string {
		op := rapid.SampledFrom([]string{"and", "or", "leaf"}).Draw(r, "op")
		if op == "leaf" || depth > 3 {
			return rapid.SampledFrom(leaves).Draw(r, "leaf")
		}
		conds := []string{}
		for range rapid.IntRange(1, 3).Draw(r, "n") {
			conds = append(conds, draw(r, depth+1))
		}
		return fmt.Sprintf(`{"op":%q,"conds":[%s]}`, op, strings.Join(conds, ","))
	}
	rapid.Check(t, func(r *rapid.T) {
		f, err := parseJSON(t, draw(r, 0))
		if err != nil {
			r.Fatal(err)
		}
		hidden := map[string]bool{}
		for field := range thing {
			hidden[field] = rapid.Bool().Draw(r, field)
		}
		early := f.Judge(func(field string) (any, bool) { return thing[field], !hidden[field] })
		if late := f.Judge(known); late == Maybe || early != Maybe && early != late {
			r.Fatalf("%d early, %d late", early, late)
		}
	})
}

func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	for given, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "30s": "2026-03-10T07:59:30Z", "15m": "2026-03-10T07:45:00Z", "2h": "2026-03-10T06:00:00Z",
		" 1d ": "2026-03-09T08:00:00Z", "2w": "2026-02-24T08:00:00Z", "0d": "2026-03-10T08:00:00Z", "2026-03-01": "2026-03-01T00:00:00Z",
		"20260301": "2026-03-01T00:00:00Z", "2026-03-01T10:00": "2026-03-01T10:00:00Z", "2026-03-01 10:00:05": "2026-03-01T10:00:05Z",
		"2026-03-01T10:00:05.25Z": "2026-03-01T10:00:05.25Z", "2026-03-01T10:00:05+02:00": "2026-03-01T08:00:05Z",
		"2026-03-01T10:00+02:00": "2026-03-01T08:00:00Z",
	} {
		if got, err := since(given, false, now); err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %s, %v, want %s", given, got.Format(time.RFC3339Nano), err, want)
		}
	}
	if got, _ := since("2026-03-01", true, now); got.Format(time.RFC3339Nano) != "2026-03-01T23:59:59.999Z" {
		t.Errorf("the end of a day: %s", got)
	}
	for _, bad := range []string{"soon", "1y", "1M", "1.5h", "-1d", "d", "999999999w", "2026-13-01", "2026-03-01T25:00", "1700000000"} {
		if got, err := since(bad, false, now); err == nil {
			t.Errorf("%q: %s", bad, got)
		}
	}
}

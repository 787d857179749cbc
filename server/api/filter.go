package api

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Filter is a condition on what a search finds: a node of OpenViking's filter language.
//
//	{"op": "and" | "or", "conds": [filter, …]}
//	{"op": "must" | "must_not", "field": name, "conds": [value, …], "para": "-d=2"}   any of the values; a URI means all below it
//	{"op": "range" | "range_out" | "time_range", "field": name, "gt" | "gte" | "lt" | "lte": value}
//	{"op": "prefix", "field": name, "prefix": text}
//	{"op": "contains", "field": name, "substring": text}
//	{"op": "regex", "field": name, "pattern": text}
//
// OpenViking ignores what it does not understand, and finds more than was asked for; here that is a fault of the request.
type Filter struct {
	op     string
	field  string
	conds  []*Filter
	texts  []string // must, prefix, contains
	uris   []skald.URI
	depth  int // of must on uri: how far below, -1 any
	bounds []bound
	re     *regexp.Regexp
	not    bool
}

// bound is one end of a range.
type bound struct {
	op    string
	value float64 // milliseconds for times
}

// The fields of what is found.
const (
	FieldURI     = "uri"
	FieldType    = "context_type"
	FieldLevel   = "level"
	FieldTags    = "tags" // search_tags in OpenViking's index; both names are taken
	FieldName    = "name" // last segment of the URI; a folder's for its texts
	FieldText    = "abstract"
	FieldCreated = "created_at"
	FieldUpdated = "updated_at"
	FieldUses    = "active_count"
	FieldOwner   = "owner_user_id" // "" for what the account shares
	FieldAccount = "account_id"
)

// kindsOf says what a field's values are: u URI, t text, l list of texts, n number, d date.
var kindsOf = map[string]byte{
	FieldURI: 'u', FieldType: 't', FieldLevel: 'n', FieldTags: 'l', FieldName: 't', FieldText: 't', FieldCreated: 'd', FieldUpdated: 'd',
	FieldUses: 'n', FieldOwner: 't', FieldAccount: 't',
}

// The limits of a filter.
const (
	filterDepth = 16
	filterNodes = 500
	patternSize = 500
)

// badFilter is OpenViking's error for a filter that is none.
func badFilter(format string, args ...any) error {
	e := skald.Invalid("", "filter", format, args...)
	return &wire.Failure{Kind: skald.KindInvalid, Code: "INVALID_FILTER", Field: "filter", Message: "Invalid filter: " + e.Err.Error(),
		Details: map[string]any{"field": "filter"}}
}

// ParseFilter reads a filter; an empty object is none, nil.
func ParseFilter(given map[string]any) (*Filter, error) {
	if len(given) == 0 {
		return nil, nil
	}
	p := filterParser{left: filterNodes}
	return p.node(given, 1)
}

type filterParser struct{ left int }

func (p *filterParser) node(v any, depth int) (*Filter, error) {
	given, ok := v.(map[string]any)
	if !ok {
		return nil, badFilter("a condition is an object, not %s", jsonText(v))
	}
	if p.left--; p.left < 0 || depth > filterDepth {
		return nil, badFilter("it has more than %d conditions or %d levels", filterNodes, filterDepth)
	}
	op, _ := given["op"].(string)
	f := &Filter{op: op, depth: -1}
	if op == "and" || op == "or" {
		return f, p.group(f, given, depth)
	}
	if !slices.Contains(filterOps, op) {
		return nil, badFilter("unknown op %s: use and, %s", jsonText(given["op"]), strings.Join(filterOps, ", "))
	}
	if err := f.named(given); err != nil {
		return nil, err
	}
	switch op {
	case "must", "must_not":
		f.not = op == "must_not"
		return f, f.values(given)
	case "range", "range_out", "time_range":
		f.not = op == "range_out"
		return f, f.ends(given)
	case "prefix":
		return f, f.words(given, "prefix")
	case "contains":
		return f, f.words(given, "substring")
	}
	return f, f.pattern(given)
}

// filterOps are those of single conditions.
var filterOps = []string{"or", "must", "must_not", "range", "range_out", "time_range", "prefix", "contains", "regex"}

// group reads the conditions of and and or. No condition at all lets everything through with and; with or it would let nothing through,
// which nobody means.
func (p *filterParser) group(f *Filter, given map[string]any, depth int) error {
	list, ok := given["conds"].([]any)
	if !ok && given["conds"] != nil || len(list) == 0 && f.op == "or" {
		return badFilter("%s needs a list of conditions in conds", f.op)
	}
	for _, item := range list {
		c, err := p.node(item, depth+1)
		if err != nil {
			return err
		}
		f.conds = append(f.conds, c)
	}
	return nil
}

func (f *Filter) named(given map[string]any) error {
	f.field, _ = given["field"].(string)
	if f.field == "search_tags" {
		f.field = FieldTags
	}
	if kindsOf[f.field] == 0 {
		return badFilter("unknown field %s", jsonText(given["field"]))
	}
	return nil
}

func (f *Filter) values(given map[string]any) error {
	list, ok := given["conds"].([]any)
	if !ok || len(list) == 0 {
		return badFilter("%s needs a list of values in conds", f.op)
	}
	for _, v := range list {
		switch kind := kindsOf[f.field]; x := v.(type) {
		case string:
			if kind == 'n' || kind == 'd' {
				return badFilter("%s has no value %q", f.field, x)
			}
			f.texts = append(f.texts, x)
		case float64:
			if kind != 'n' {
				return badFilter("%s has no value %s", f.field, jsonText(v))
			}
			f.texts = append(f.texts, strconv.FormatFloat(x, 'f', -1, 64))
		default:
			return badFilter("%s has no value %s", f.field, jsonText(v))
		}
	}
	if para, ok := given["para"].(string); ok && f.field == FieldURI {
		n, err := strconv.Atoi(strings.TrimPrefix(para, "-d="))
		if err != nil || !strings.HasPrefix(para, "-d=") || n < -1 {
			return badFilter("para is -d=N, the levels below the URI")
		}
		f.depth = n
	}
	return nil
}

func (f *Filter) ends(given map[string]any) error {
	kind := kindsOf[f.field]
	if kind != 'n' && kind != 'd' || f.op == "time_range" && kind != 'd' {
		return badFilter("%s is no field for %s", f.field, f.op)
	}
	for _, op := range []string{"gt", "gte", "lt", "lte"} {
		v := given[op]
		if v == nil {
			continue
		}
		n, ok := v.(float64)
		if s, text := v.(string); text && kind == 'd' {
			t, err := readTime(s, op == "lte" || op == "gt")
			if err != nil {
				return badFilter("%s: %s", op, err)
			}
			n, ok = float64(t.UnixMilli()), true
		}
		if !ok {
			return badFilter("%s: %s is no value of %s", op, jsonText(v), f.field)
		}
		f.bounds = append(f.bounds, bound{op, n})
	}
	if len(f.bounds) == 0 {
		return badFilter("%s needs gt, gte, lt or lte", f.op)
	}
	return nil
}

func (f *Filter) words(given map[string]any, name string) error {
	s, ok := given[name].(string)
	if kind := kindsOf[f.field]; !ok || kind == 'n' || kind == 'd' {
		return badFilter("%s needs a text in %s, and a field of texts", f.op, name)
	}
	f.texts = []string{s}
	return nil
}

func (f *Filter) pattern(given map[string]any) error {
	s, ok := given["pattern"].(string)
	if kind := kindsOf[f.field]; !ok || kind == 'n' || kind == 'd' || len(s) > patternSize {
		return badFilter("regex needs a pattern of at most %d bytes, and a field of texts", patternSize)
	}
	var err error
	if f.re, err = expression(s); err != nil {
		return badFilter("%s", err)
	}
	return nil
}

// jsonText shows what stood in a request.
func jsonText(v any) string {
	b, _ := json.Marshal(v) // it came out of JSON
	if len(b) > 80 {
		b = append(b[:80:80], "…"...)
	}
	return string(b)
}

// Resolve makes the URIs of a filter canonical, by parse. OpenViking's index spells them as paths ("/resources/x"): these are taken too.
func (f *Filter) Resolve(parse func(string) (skald.URI, error)) error {
	if f == nil {
		return nil
	}
	for _, c := range f.conds {
		if err := c.Resolve(parse); err != nil {
			return err
		}
	}
	if f.field != FieldURI {
		return nil
	}
	for i, raw := range f.texts {
		if f.op == "contains" {
			continue
		}
		if strings.HasPrefix(raw, "/") {
			raw = string(skald.Root) + strings.TrimLeft(raw, "/")
		}
		uri, err := parse(raw)
		if err != nil {
			return err
		}
		f.uris = append(f.uris, uri)
		if f.texts[i] = string(uri); f.op == "prefix" && strings.HasSuffix(raw, "/") && uri != skald.Root {
			f.texts[i] += "/"
		}
	}
	return nil
}

// All is a filter that every part must let through. Parts that are nil restrict nothing.
func All(parts ...*Filter) *Filter {
	parts = slices.DeleteFunc(slices.Clone(parts), func(f *Filter) bool { return f == nil })
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &Filter{op: "and", conds: parts}
}

// OneOf is a filter on the values of a field; no values restrict nothing.
func OneOf(field string, values ...string) *Filter {
	if len(values) == 0 {
		return nil
	}
	return &Filter{op: "must", field: field, texts: values, depth: -1}
}

// Between is a filter on a time; a zero end is open.
func Between(field string, since, until time.Time) *Filter {
	f := &Filter{op: "time_range", field: field}
	if !since.IsZero() {
		f.bounds = append(f.bounds, bound{"gte", float64(since.UnixMilli())})
	}
	if !until.IsZero() {
		f.bounds = append(f.bounds, bound{"lte", float64(until.UnixMilli())})
	}
	if len(f.bounds) == 0 {
		return nil
	}
	return f
}

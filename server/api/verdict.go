package api

import (
	"slices"
	"strconv"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
)

// Verdict is what a filter says of a thing of which perhaps not every field is known yet.
type Verdict int8

// The verdicts.
const (
	No    Verdict = -1
	Maybe Verdict = 0
	Yes   Verdict = 1
)

// Fields reads a field of a thing: a skald.URI, a text, a list of texts, an int or a time. known is false where that is not known yet.
type Fields func(field string) (value any, known bool)

// Judge says whether the filter lets a thing through. A nil filter lets everything through.
func (f *Filter) Judge(of Fields) Verdict {
	switch {
	case f == nil:
		return Yes
	case f.op == "and":
		return f.worst(of)
	case f.op == "or":
		return f.best(of)
	}
	v, known := of(f.field)
	switch {
	case !known:
		return Maybe
	case f.holds(v) != f.not:
		return Yes
	}
	return No
}

func (f *Filter) worst(of Fields) Verdict {
	least := Yes
	for _, c := range f.conds {
		least = min(least, c.Judge(of))
	}
	return least
}

func (f *Filter) best(of Fields) Verdict {
	most := No
	for _, c := range f.conds {
		most = max(most, c.Judge(of))
	}
	return most
}

// holds compares one value.
func (f *Filter) holds(v any) bool {
	switch x := v.(type) {
	case skald.URI:
		if f.op == "must" || f.op == "must_not" {
			return slices.ContainsFunc(f.uris, func(u skald.URI) bool { return within(x, u, f.depth) })
		}
		return f.matches(string(x))
	case string:
		return f.matches(x)
	case []string:
		return slices.ContainsFunc(x, f.matches)
	case int:
		if len(f.bounds) == 0 {
			return slices.Contains(f.texts, strconv.Itoa(x))
		}
		return f.inside(float64(x))
	case time.Time:
		return f.inside(float64(x.UnixMilli()))
	}
	return false
}

// within reports that a URI is a folder or lies below it, at most depth levels deep where depth is not negative. A folder's own texts
// stand where the folder stands.
func within(uri, folder skald.URI, depth int) bool {
	if uri != folder && index.Level(uri) < 2 {
		uri = uri.Parent()
	}
	if uri == folder {
		return true
	}
	rest, ok := strings.CutPrefix(string(uri), strings.TrimRight(string(folder), "/")+"/")
	if folder == skald.Root {
		rest, ok = strings.CutPrefix(string(uri), string(skald.Root))
	}
	return ok && (depth < 0 || strings.Count(rest, "/")+1 <= depth)
}

func (f *Filter) matches(s string) bool {
	switch f.op {
	case "prefix":
		return strings.HasPrefix(s, f.texts[0])
	case "contains":
		return strings.Contains(s, f.texts[0])
	case "regex":
		return f.re.MatchString(s)
	}
	if f.field == FieldTags {
		return slices.ContainsFunc(f.texts, func(t string) bool { return strings.EqualFold(s, t) })
	}
	return slices.Contains(f.texts, s)
}

func (f *Filter) inside(n float64) bool {
	for _, b := range f.bounds {
		if b.op == "gt" && n <= b.value || b.op == "gte" && n < b.value || b.op == "lt" && n >= b.value || b.op == "lte" && n > b.value {
			return false
		}
	}
	return true
}

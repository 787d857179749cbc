package wire

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	skald "github.com/skald-engine/skald"
)

// Params reads query parameters and remembers the first that is wrong.
type Params struct {
	values url.Values
	err    error
}

// Query reads the parameters of a request.
func Query(r *http.Request) *Params {
	v, err := url.ParseQuery(r.URL.RawQuery)
	p := &Params{values: v}
	if err != nil {
		p.fail("query", "malformed query string")
	}
	return p
}

// Err is the first fault.
func (p *Params) Err() error { return p.err }

func (p *Params) fail(name, format string, args ...any) {
	if p.err == nil {
		p.err = skald.Invalid("http.query", name, format, args...)
	}
}

// Text is a parameter, "" when absent.
func (p *Params) Text(name string) string { return p.values.Get(name) }

// All is every value of a parameter; commas separate values too.
func (p *Params) All(name string) []string {
	var all []string
	for _, v := range p.values[name] {
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// Required is a parameter that must not be empty.
func (p *Params) Required(name string) string {
	v := p.values.Get(name)
	if v == "" {
		p.fail(name, "is required")
	}
	return v
}

// Int is a whole number of at least least; absent gives the default.
func (p *Params) Int(name string, byDefault, least int64) int64 {
	v := p.values.Get(name)
	if v == "" {
		if byDefault < least {
			p.fail(name, "is required")
		}
		return byDefault
	}
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil:
		p.fail(name, "is not a whole number")
	case n < least:
		p.fail(name, "must be at least %d", least)
	}
	return n
}

// Float is a finite number, 0 when absent.
func (p *Params) Float(name string) float64 {
	v := p.values.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		p.fail(name, "is not a number")
		return 0
	}
	return n
}

// List makes an absent list an empty one: callers get [], not null.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

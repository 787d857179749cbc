package api

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// body reads the members of a JSON object one by one, as leniently as OpenViking does, and collects every fault.
type body struct {
	given map[string]json.RawMessage
	issues
}

// readBody reads a request's object. Members other than the known ones are faults.
func readBody(r *http.Request, known ...string) (*body, error) {
	b := &body{}
	if err := decode(r, &b.given, false); err != nil {
		return nil, err
	}
	if b.given == nil {
		return nil, invalid(inBody(), "model_attributes_type", "Input should be a valid dictionary or object to extract fields from")
	}
	if err := only(b.given, inBody(), known...); err != nil {
		return nil, err
	}
	return b, nil
}

// empty reports JSON that says nothing.
func empty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// has reports a member that is there and not null.
func (b *body) has(name string) bool {
	return len(b.given[name]) > 0 && string(b.given[name]) != "null"
}

// value decodes a member; nil when it is missing or null.
func (b *body) value(name string) any {
	var v any
	if b.has(name) {
		_ = json.Unmarshal(b.given[name], &v) // it is part of a document that was decoded
	}
	return v
}

func (b *body) text(name string) string {
	v := b.value(name)
	s, ok := v.(string)
	if v != nil && !ok {
		b.add(inBody(name), "string_type", "Input should be a valid string")
	}
	return s
}

// oneOf is a text out of a closed set; "" when it is missing.
func (b *body) oneOf(name string, values ...string) string {
	v := b.value(name)
	s, ok := v.(string)
	if v == nil || ok && slices.Contains(values, s) {
		return s
	}
	b.add(inBody(name), "literal_error", "Input should be %s", alternatives(values))
	return ""
}

// alternatives is "'a', 'b' or 'c'".
func alternatives(values []string) string {
	last := len(values) - 1
	if last == 0 {
		return "'" + values[0] + "'"
	}
	return "'" + strings.Join(values[:last], "', '") + "' or '" + values[last] + "'"
}

// int is a whole number from least to most; most 0 is no bound.
func (b *body) int(name string, byDefault, least, most int) int {
	v := b.value(name)
	if v == nil {
		return byDefault
	}
	n, ok := wholeNumber(v)
	switch f, fraction := v.(float64); {
	case !ok && fraction && f != math.Trunc(f):
		b.add(inBody(name), "int_from_float", "Input should be a valid integer, got a number with a fractional part")
	case !ok:
		b.add(inBody(name), "int_type", "Input should be a valid integer")
	case n < least:
		b.add(inBody(name), "greater_than_equal", "Input should be greater than or equal to %d", least)
	case most > 0 && n > most:
		b.add(inBody(name), "less_than_equal", "Input should be less than or equal to %d", most)
	}
	return n
}

// wholeNumber reads 3, 3.0 and "3".
func wholeNumber(v any) (int, bool) {
	switch x := v.(type) {
	case float64:
		return int(x), x == math.Trunc(x) && math.Abs(x) < 1<<53
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(x))
		return n, err == nil
	}
	return 0, false
}

// number is a number, or nil.
func (b *body) number(name string) *float64 {
	v := b.value(name)
	if v == nil {
		return nil
	}
	f, ok := v.(float64)
	if s, text := v.(string); text {
		var err error
		f, err = strconv.ParseFloat(strings.TrimSpace(s), 64)
		ok = err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	if !ok {
		b.add(inBody(name), "float_parsing", "Input should be a valid number, unable to parse string as a number")
		return nil
	}
	return &f
}

func (b *body) flag(name string) bool {
	switch v := b.value(name).(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		if v == 0 || v == 1 {
			return v == 1
		}
	case string:
		switch strings.ToLower(v) {
		case "0", "false", "no", "off", "f", "n":
			return false
		case "1", "true", "yes", "on", "t", "y":
			return true
		}
	}
	b.add(inBody(name), "bool_parsing", "Input should be a valid boolean, unable to interpret input")
	return false
}

// list is a list of texts.
func (b *body) list(name string) []string {
	v := b.value(name)
	list, ok := v.([]any)
	if v != nil && !ok {
		b.add(inBody(name), "list_type", "Input should be a valid list")
	}
	var out []string
	for i, item := range list {
		s, ok := item.(string)
		if !ok {
			b.add(inBody(name, strconv.Itoa(i)), "string_type", "Input should be a valid string")
		}
		out = append(out, s)
	}
	return out
}

// words is a text, or a list of texts; each may hold several with commas between. Blank ones are left out.
func (b *body) words(name string) []string {
	var out []string
	for _, s := range b.oneOrMore(name) {
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// oneOrMore is a text, or a list of texts. Blank ones are left out.
func (b *body) oneOrMore(name string) []string {
	list := []string{}
	if s, ok := b.value(name).(string); ok {
		list = []string{s}
	} else {
		list = append(list, b.list(name)...)
	}
	return slices.DeleteFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// object is a JSON object, or nil.
func (b *body) object(name string) map[string]any {
	v := b.value(name)
	m, ok := v.(map[string]any)
	if v != nil && !ok {
		b.add(inBody(name), "dict_type", "Input should be a valid dictionary")
	}
	return m
}

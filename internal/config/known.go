package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
)

// keepKnown drops members that no field of v's type has, with a warning that names each (exact spelling: encoding/json would
// take any case).
func keepKnown(raw []byte, v any, path string, warnings *[]string) ([]byte, error) {
	return filter(raw, reflect.TypeOf(v), path, warnings)
}

func filter(raw []byte, t reflect.Type, path string, warnings *[]string) ([]byte, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct && (path == "" || leads(raw, '{')):
		return filterObject(raw, t, path, warnings)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && leads(raw, '['):
		return filterList(raw, t.Elem(), path, warnings)
	}
	return raw, nil
}

func leads(raw []byte, b byte) bool { return len(raw) > 0 && raw[0] == b }

func filterObject(raw []byte, t reflect.Type, path string, warnings *[]string) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, named(err)
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = t.Field(i).Type
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		key := strings.TrimPrefix(path+"."+name, ".")
		field, ok := fields[name]
		if !ok {
			*warnings = append(*warnings, fmt.Sprintf("unknown configuration key %q is ignored", key))
			delete(members, name)
			continue
		}
		kept, err := filter(members[name], field, key, warnings)
		if err != nil {
			return nil, err
		}
		members[name] = kept
	}
	return json.Marshal(members)
}

func filterList(raw []byte, t reflect.Type, path string, warnings *[]string) ([]byte, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, named(err)
	}
	for i := range items {
		kept, err := filter(items[i], t, fmt.Sprintf("%s[%d]", path, i), warnings)
		if err != nil {
			return nil, err
		}
		items[i] = kept
	}
	return json.Marshal(items)
}

// named says which key has a value of the wrong type.
func named(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return invalid(wrong.Field, "expected %s, got %s", wrong.Type, wrong.Value)
	}
	return skald.E("config", skald.KindInvalid, "not a JSON object: %w", err)
}

func invalid(key, format string, args ...any) error {
	return skald.Invalid("config", key, format, args...)
}

package parse

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// maxKeys is how many keys an outline names.
const maxKeys = 40

// topKey is a key at the left margin of YAML, TOML, INI or properties.
var topKey = regexp.MustCompile(`(?m)^(?:\[+([^\]\n]+)\]+|([A-Za-z0-9_."'-]+)[ \t]*[:=])`)

// data keeps structured text as it is, and names its keys.
func data(_ context.Context, in Input) (Document, error) {
	s := decode(in.Body)
	d := Document{Text: s, Own: true}
	var keys []string
	switch strings.ToLower(path.Ext(in.Name)) {
	case ".json":
		if json.Valid([]byte(s)) {
			keys = jsonKeys(s)
		} else {
			d.Notes = append(d.Notes, "it is no valid JSON; kept as text")
		}
	case ".xml", ".jsonl", ".ndjson":
	default:
		for _, m := range topKey.FindAllStringSubmatch(s, 2*maxKeys) {
			keys = append(keys, strings.Trim(m[1]+m[2], `"'`))
		}
	}
	keys = distinct(keys)
	if len(keys) > 0 {
		d.Outline = []string{"keys: " + strings.Join(keys[:min(len(keys), maxKeys)], ", ")}
		d.Abstract = strings.ToUpper(strings.TrimPrefix(path.Ext(in.Name), ".")) + " with " + strings.Join(keys[:min(len(keys), 12)], ", ")
	}
	return d, nil
}

// jsonKeys are the keys of the outermost object, in order.
func jsonKeys(s string) (keys []string) {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() && len(keys) < 2*maxKeys {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return keys
		}
		keys = append(keys, key)
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return keys
		}
	}
	return keys
}

func distinct(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

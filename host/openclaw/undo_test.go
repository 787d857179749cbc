package openclaw

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// draw makes a JSON value that the host might have.
func draw(t *rapid.T, depth int, label string) any {
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch rapid.IntRange(0, kinds).Draw(t, label) {
	case 0:
		return rapid.Bool().Draw(t, "bool")
	case 1:
		return float64(rapid.IntRange(-9, 9999).Draw(t, "number"))
	case 2:
		return rapid.StringMatching(`[a-z"\\/*,:{}\[\]' é]{0,8}`).Draw(t, "string")
	case 3:
		return nil
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, draw(t, depth-1, "item"))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		object[rapid.StringMatching(`[a-z$_.-]{1,6}`).Draw(t, "key")] = draw(t, depth-1, "value")
	}
	return object
}

// render writes a value as JSON or JSON5, in some layout.
func render(t *rapid.T, v any) []byte {
	var text []byte
	if rapid.Bool().Draw(t, "lines") {
		text, _ = json.MarshalIndent(v, "", rapid.SampledFrom([]string{"  ", "\t", ""}).Draw(t, "indent"))
	} else {
		text, _ = json.Marshal(v)
	}
	if rapid.Bool().Draw(t, "json5") {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(" // a note\n"))
		text = append([]byte("/* head { */ "), append(text, " // end"...)...)
	}
	return text
}

// drawConfig is any configuration that an install does not refuse: the places that it touches are objects or not there.
func drawConfig(t *rapid.T) map[string]any {
	config := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "sections") {
		config[rapid.SampledFrom([]string{"gateway", "models", "a", "meta", "tools"}).Draw(t, "section")] = draw(t, 3, "content")
	}
	if rapid.Bool().Draw(t, "has plugins") {
		plugins := map[string]any{}
		if rapid.Bool().Draw(t, "has allow") {
			plugins["allow"] = []any{"p1", "p2"}
		}
		if rapid.Bool().Draw(t, "has paths") {
			plugins["load"] = map[string]any{"paths": []any{"/one"}}
		}
		if rapid.Bool().Draw(t, "has entries") {
			plugins["entries"] = map[string]any{"p1": draw(t, 2, "entry")}
		}
		if rapid.Bool().Draw(t, "has slots") {
			plugins["slots"] = map[string]any{"memory": "memory-core"}
		}
		config["plugins"] = plugins
	}
	return config
}

// TestUndoProperty: whatever else a configuration holds, install and uninstall give it back byte for byte; and when somebody changed it
// in between, exactly that change is what differs.
func TestUndoProperty(t *testing.T) {
	t.Parallel()
	h := newHost(t, "{}")
	rapid.Check(t, func(rt *rapid.T) {
		config := drawConfig(rt)
		before := render(rt, config)
		h.Mode = rapid.SampledFrom([]Mode{Replace, ContextOnly, Both}).Draw(rt, "mode")
		p, err := plan(h.Options, before)
		if err != nil {
			rt.Fatalf("%v\n%s", err, before)
		}
		after, err := applyAll(before, p.Changes)
		if err != nil {
			rt.Fatalf("%v\n%s", err, before)
		}
		if again, err := plan(h.Options, after); err != nil || len(again.Changes) > 0 {
			rt.Fatalf("planned twice: %v %v\n%s", err, again.Changes, after)
		}
		m := &Manifest{Changes: p.Changes, dir: h.dir, File: BackupFile{Backup: "original", Before: hash(before), After: hash(after)}}
		h.write(t, "original", string(before))
		restored, exact, _, err := m.restore(after)
		if err != nil || !exact || !bytes.Equal(restored, before) {
			rt.Fatalf("not the same bytes: %v\n%s\n%s", err, before, restored)
		}
		checkChangedBetween(rt, m, config, after)
	})
}

// checkChangedBetween changes something else after the installation, in the text or with a new layout.
func checkChangedBetween(rt *rapid.T, m *Manifest, config map[string]any, after []byte) {
	added := draw(rt, 2, "added")
	path := rapid.SampledFrom([][]string{{"new"}, {"plugins", "entries", "new"}, {"plugins", "entries", "skald", "new"}}).Draw(rt, "place")
	now, err := set(after, path, added)
	if err != nil {
		rt.Fatal(err)
	}
	if rapid.Bool().Draw(rt, "reformatted") {
		n, err := parse(now)
		if err != nil {
			rt.Fatal(err)
		}
		now = render(rt, n.value)
	}
	restored, exact, kept, err := m.restore(now)
	if err != nil || exact || len(kept) > 0 {
		rt.Fatalf("%v %v %v", err, exact, kept)
	}
	want, err := json.Marshal(config)
	if err == nil {
		want, err = set(want, path, added)
	}
	if err != nil {
		rt.Fatal(err)
	}
	var x, y any
	if err := Unmarshal(restored, &x); err != nil {
		rt.Fatalf("%v\n%s", err, restored)
	}
	if err := Unmarshal(want, &y); err != nil {
		rt.Fatal(err)
	}
	if !same(x, y) {
		rt.Fatalf("more was undone, or less:\nnow  %s\nback %s\nwant %s", now, restored, want)
	}
}

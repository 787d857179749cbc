package openclaw

import "slices"

// Change is one change of the host's configuration. It holds what is needed to take it back.
type Change struct {
	Path []string `json:"path"`
	Do   Action   `json:"do"`
	// Value is what is set, or the item that is appended to or dropped from a list.
	Value any `json:"value"`
	// Before is what stood there; Had false: nothing.
	Before any    `json:"before,omitempty"`
	Had    bool   `json:"had"`
	Why    string `json:"why"`
}

// Action says what a change does.
type Action string

// The actions.
const (
	Set    Action = "set"
	Append Action = "append"
	Drop   Action = "drop"
)

// apply makes the change in a text.
func (c Change) apply(text []byte) ([]byte, error) {
	switch c.Do {
	case Append:
		return addItem(text, c.Path, c.Value)
	case Drop:
		return dropItem(text, c.Path, c.Value)
	}
	return set(text, c.Path, c.Value)
}

// undo takes the change back, unless somebody changed the same place since: then it stays as it is, and done is false.
func (c Change) undo(text []byte) (_ []byte, done bool, err error) {
	now, there, err := get(text, c.Path...)
	if err != nil {
		return nil, false, err
	}
	switch {
	case c.Do == Set && (!there || !same(now, c.Value)):
		return text, !there && !c.Had, nil
	case c.Do == Set && c.Had:
		text, err = set(text, c.Path, c.Before)
		return text, err == nil, err
	case c.Do == Set:
		text, err = remove(text, c.Path)
		return text, err == nil, err
	}
	list, ok := now.([]any)
	switch {
	case !ok:
		return text, !there && !c.Had, nil
	case c.Do == Drop:
		text, err = addItem(text, c.Path, c.Value)
	case !c.Had && len(list) == 1 && same(list[0], c.Value):
		text, err = remove(text, c.Path)
	default:
		text, err = dropItem(text, c.Path, c.Value)
	}
	return text, err == nil, err
}

// applyAll makes changes one after the other.
func applyAll(text []byte, changes []Change) ([]byte, error) {
	var err error
	for _, c := range changes {
		if text, err = c.apply(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// undoAll takes changes back, the last one first, with the empty objects that they had made. kept are those that somebody changed since.
func undoAll(text, original []byte, changes []Change) (_ []byte, kept []Change, err error) {
	for _, c := range slices.Backward(changes) {
		var done bool
		if text, done, err = c.undo(text); err != nil {
			return nil, nil, err
		}
		if !done {
			kept = append(kept, c)
		}
		if text, err = prune(text, original, c.Path); err != nil {
			return nil, nil, err
		}
	}
	return text, kept, nil
}

// prune removes the empty objects above a path that were not there originally.
func prune(text, original []byte, path []string) ([]byte, error) {
	for n := len(path) - 1; n > 0; n-- {
		_, was, err := get(original, path[:n]...)
		if err != nil || was {
			return text, err
		}
		now, there, err := get(text, path[:n]...)
		if err != nil {
			return nil, err
		}
		if object, ok := now.(map[string]any); !there || ok && len(object) > 0 || !ok {
			return text, nil
		}
		if text, err = remove(text, path[:n]); err != nil {
			return nil, err
		}
	}
	return text, nil
}

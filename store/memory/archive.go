package memory

import (
	"slices"

	"github.com/skald-engine/skald"
)

func (t *tx) PutArchive(a skald.Archive) error {
	if err := t.writing("store.put_archive"); err != nil {
		return err
	}
	t.change(a.Session).archives[a.Index] = cloneArchive(a)
	return nil
}

func (t *tx) Archive(ref skald.SessionRef, index int) (skald.Archive, error) {
	const op = "store.archive"
	if err := t.reading(op); err != nil {
		return skald.Archive{}, err
	}
	a, ok := t.read(ref).archives[index]
	if !ok {
		return skald.Archive{}, skald.NotFound(op, string(ref.ArchiveURI(index)))
	}
	return cloneArchive(a), nil
}

func (t *tx) Archives(ref skald.SessionRef, first int) ([]skald.Archive, error) {
	if err := t.reading("store.archives"); err != nil {
		return nil, err
	}
	var out []skald.Archive
	for _, a := range sortedValues(t.read(ref).archives) {
		if a.Index >= first {
			out = append(out, cloneArchive(a))
		}
	}
	return out, nil
}

// PutCheckpoint adds a checkpoint, or replaces the one with the same id in its place.
func (t *tx) PutCheckpoint(ref skald.SessionRef, c skald.CompactCheckpoint) error {
	if err := t.writing("store.put_checkpoint"); err != nil {
		return err
	}
	s := t.change(ref)
	s.checkpoints = slices.Clone(s.checkpoints)
	same := func(old skald.CompactCheckpoint) bool { return old.CheckpointID == c.CheckpointID }
	if i := slices.IndexFunc(s.checkpoints, same); i >= 0 {
		s.checkpoints[i] = cloneCheckpoint(c)
		return nil
	}
	s.checkpoints = append(s.checkpoints, cloneCheckpoint(c))
	return nil
}

// Checkpoints lists them in the order of their making.
func (t *tx) Checkpoints(ref skald.SessionRef) ([]skald.CompactCheckpoint, error) {
	if err := t.reading("store.checkpoints"); err != nil {
		return nil, err
	}
	var out []skald.CompactCheckpoint
	for _, c := range t.read(ref).checkpoints {
		out = append(out, cloneCheckpoint(c))
	}
	return out, nil
}

package sqlite

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) PutArchive(a skald.Archive) error {
	if err := t.writing("store.put_archive"); err != nil {
		return err
	}
	id, err := t.needRef(a.Session)
	if err != nil {
		return err
	}
	return t.exec("archive.put", `INSERT OR REPLACE INTO archive (ref, idx, body) VALUES (?, ?, ?)`, id, a.Index, record.Encode(a))
}

func (t *tx) Archive(ref skald.SessionRef, index int) (skald.Archive, error) {
	const op = "store.archive"
	if err := t.reading(op); err != nil {
		return skald.Archive{}, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return skald.Archive{}, err
	}
	a, found, err := body[skald.Archive](t, "archive.get", `SELECT body FROM archive WHERE ref = ? AND idx = ?`, id, index)
	if err == nil && !found {
		err = skald.NotFound(op, string(ref.ArchiveURI(index)))
	}
	return a, err
}

func (t *tx) Archives(ref skald.SessionRef, first int) ([]skald.Archive, error) {
	if err := t.reading("store.archives"); err != nil {
		return nil, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return nil, err
	}
	return bodies[skald.Archive](t, "archive.list", `SELECT body FROM archive WHERE ref = ? AND idx >= ? ORDER BY idx`, id, first)
}

// PutCheckpoint adds a checkpoint, or replaces the one with the same id in its place.
func (t *tx) PutCheckpoint(ref skald.SessionRef, c skald.CompactCheckpoint) error {
	if err := t.writing("store.put_checkpoint"); err != nil {
		return err
	}
	id, err := t.needRef(ref)
	if err != nil {
		return err
	}
	const query = `INSERT INTO checkpoint (ref, cid, body) VALUES (?, ?, ?) ON CONFLICT (ref, cid) DO UPDATE SET body = excluded.body`
	return t.exec("checkpoint.put", query, id, c.CheckpointID, record.Encode(c))
}

// Checkpoints lists them in the order of their making.
func (t *tx) Checkpoints(ref skald.SessionRef) ([]skald.CompactCheckpoint, error) {
	if err := t.reading("store.checkpoints"); err != nil {
		return nil, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return nil, err
	}
	return bodies[skald.CompactCheckpoint](t, "checkpoint.list", `SELECT body FROM checkpoint WHERE ref = ? ORDER BY id`, id)
}

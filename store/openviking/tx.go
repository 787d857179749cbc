package openviking

import (
	"slices"

	"github.com/skald-engine/skald"
)

// tx is a transaction of the local store that notices what the server will lack. Everything else passes through.
type tx struct {
	skald.Tx
	store   *Store
	due     []skald.SessionRef
	journal []entry
}

// lacks reports whether the transaction has something for the server.
func (t *tx) lacks() bool { return len(t.due)+len(t.journal) > 0 }

func (t *tx) touch(ref skald.SessionRef) {
	if t.store.mine(ref.Scope) && !slices.Contains(t.due, ref) {
		t.due = append(t.due, ref)
	}
}

func (t *tx) note(e entry) { t.journal = append(t.journal, e) }

func (t *tx) AppendTurns(ref skald.SessionRef, turns []skald.Turn) error {
	err := t.Tx.AppendTurns(ref, turns)
	if err == nil && len(turns) > 0 {
		t.touch(ref)
	}
	return err
}

func (t *tx) PutArchive(a skald.Archive) error {
	err := t.Tx.PutArchive(a)
	if err == nil && a.State == skald.ArchiveClosed { // later states change nothing that the server has
		t.touch(a.Session)
	}
	return err
}

// UpdateTurn notes a change that a rebuilt store must know: forgotten and purged turns, and the host's marks that repetitions are known by.
func (t *tx) UpdateTurn(ref skald.SessionRef, turn skald.Turn) error {
	return t.amend(ref, turn, t.Tx.UpdateTurn)
}

func (t *tx) ReplaceRaw(ref skald.SessionRef, turn skald.Turn) error {
	return t.amend(ref, turn, t.Tx.ReplaceRaw)
}

func (t *tx) amend(ref skald.SessionRef, turn skald.Turn, change func(skald.SessionRef, skald.Turn) error) error {
	err := change(ref, turn)
	if err == nil && t.store.mine(ref.Scope) {
		t.note(entry{Op: opTurn, Ref: ref, Seq: turn.Seq})
	}
	return err
}

func (t *tx) DeleteSession(ref skald.SessionRef) error {
	if !t.store.mine(ref.Scope) {
		return t.Tx.DeleteSession(ref)
	}
	st, err := readState(t.Tx, ref)
	if err != nil {
		return err
	}
	if err := t.Tx.DeleteSession(ref); err != nil {
		return err
	}
	if st.Created {
		t.note(entry{Op: opDrop, Ref: ref, Name: st.Name})
	}
	t.due = slices.DeleteFunc(t.due, func(r skald.SessionRef) bool { return r == ref })
	return forgetSession(t.Tx, ref)
}

// PutMemory carries what memory_store keeps. What was extracted here is extracted again after a rebuild; the server extracts its own.
func (t *tx) PutMemory(m skald.Memory) error {
	if !m.Explicit || !t.store.mine(m.Scope) {
		return t.Tx.PutMemory(m)
	}
	old, err := t.Memory(m.Scope, m.URI)
	if err != nil && skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	told := err == nil && old.Explicit && old.Text == m.Text && old.Superseded == m.Superseded && old.ValidTo.Equal(m.ValidTo) // a mere use
	if err := t.Tx.PutMemory(m); err != nil || told {
		return err
	}
	t.note(entry{Op: opMemory, Memory: &m})
	return nil
}

func (t *tx) DeleteMemory(scope skald.Scope, uri skald.URI) error {
	m, err := t.Memory(scope, uri)
	if err != nil && skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	known := err == nil
	if err := t.Tx.DeleteMemory(scope, uri); err != nil {
		return err
	}
	if known && t.store.mine(scope) && (m.Explicit || fromServer(m)) {
		t.note(entry{Op: opForget, Memory: &m})
	}
	return nil
}

// mark writes down what the server lacks now.
func (t *tx) mark() error {
	now := t.store.now()
	for _, ref := range t.due {
		if err := putDue(t.Tx, ref, now); err != nil {
			return err
		}
	}
	for _, e := range t.journal {
		if err := t.store.putEntry(t.Tx, e); err != nil {
			return err
		}
	}
	return nil
}

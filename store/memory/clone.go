package memory

import (
	"bytes"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// Values are copied on the way in and out, so that nobody can change what is stored through a slice that he still holds.

func cloneSession(s skald.Session) skald.Session {
	s.Created, s.Updated, s.OpenSince = s.Created.UTC(), s.Updated.UTC(), s.OpenSince.UTC()
	s.LastCommit, s.RetryAt, s.LastCommitTurn = s.LastCommit.UTC(), s.RetryAt.UTC(), s.LastCommitTurn.UTC()
	s.Compactions = slices.Clone(s.Compactions)
	s.Cursor, s.Policy, s.Meta = bytes.Clone(s.Cursor), bytes.Clone(s.Policy), bytes.Clone(s.Meta)
	return s
}

func cloneTurn(t skald.Turn, noRaw bool) skald.Turn {
	t.Time = millis(t.Time)
	t.Salt, t.Leaf, t.Link = bytes.Clone(t.Salt), bytes.Clone(t.Leaf), bytes.Clone(t.Link)
	if noRaw || t.Purged {
		t.Raw = nil
	} else {
		t.Raw = append([]byte{}, t.Raw...) // an empty payload is not nil
	}
	return t
}

// millis is the precision of a turn's time.
func millis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

func cloneRecall(r skald.PlacedRecall) skald.PlacedRecall {
	r.Time = r.Time.UTC()
	r.URIs = slices.Clone(r.URIs)
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i] = bytes.Clone(r.Messages[i])
	}
	return r
}

func cloneArchive(a skald.Archive) skald.Archive {
	a.Created, a.Updated = a.Created.UTC(), a.Updated.UTC()
	a.Extraction.Types, a.Extraction.Tags = slices.Clone(a.Extraction.Types), slices.Clone(a.Extraction.Tags)
	a.Memories, a.Steps, a.Overview = slices.Clone(a.Memories), slices.Clone(a.Steps), slices.Clone(a.Overview)
	for i := range a.Overview {
		lines := slices.Clone(a.Overview[i].Lines)
		for j := range lines {
			lines[j].Time = lines[j].Time.UTC()
		}
		a.Overview[i].Lines = lines
	}
	return a
}

func cloneCheckpoint(c skald.CompactCheckpoint) skald.CompactCheckpoint {
	c.ExtractedMemoryURIs = slices.Clone(c.ExtractedMemoryURIs)
	return c
}

func cloneMemory(m skald.Memory) skald.Memory {
	m.Created, m.Updated, m.ValidFrom, m.ValidTo = m.Created.UTC(), m.Updated.UTC(), m.ValidFrom.UTC(), m.ValidTo.UTC()
	m.Used, m.Tags = m.Used.UTC(), slices.Clone(m.Tags)
	m.Sources = slices.Clone(m.Sources)
	for i := range m.Sources {
		m.Sources[i].Deleted = m.Sources[i].Deleted.UTC()
	}
	return m
}

func cloneTrace(t skald.Trace) skald.Trace {
	t.Time, t.JSON = t.Time.UTC(), bytes.Clone(t.JSON)
	return t
}

func cloneDead(d skald.DeadLetter) skald.DeadLetter {
	d.Time, d.Head = d.Time.UTC(), bytes.Clone(d.Head)
	return d
}

func cloneJob(j skald.Job) skald.Job {
	j.Created, j.Updated, j.RunAt, j.Lease = j.Created.UTC(), j.Updated.UTC(), j.RunAt.UTC(), j.Lease.UTC()
	return j
}

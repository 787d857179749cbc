package memory

import (
	"bytes"
	"slices"

	"github.com/skald-engine/skald"
)

const keptTraces = 200

func (t *tx) PutTrace(ref skald.SessionRef, tr skald.Trace) error {
	if err := t.writing("store.put_trace"); err != nil {
		return err
	}
	s := t.change(ref)
	s.traces = append(slices.Clip(s.traces), cloneTrace(tr))
	s.traces = s.traces[max(0, len(s.traces)-keptTraces):]
	return nil
}

func (t *tx) Traces(ref skald.SessionRef, q skald.TraceQuery) ([]skald.Trace, error) {
	if err := t.reading("store.traces"); err != nil {
		return nil, err
	}
	var out []skald.Trace
	for _, tr := range slices.Backward(t.read(ref).traces) {
		if (q.TurnID == "" || tr.TurnID == q.TurnID) && (q.AfterSeq == 0 || tr.AfterSeq == q.AfterSeq) {
			out = append(out, cloneTrace(tr))
		}
	}
	return limited(out, q.Limit), nil
}

func (t *tx) DeleteTraces(ref skald.SessionRef, naming string) error {
	if err := t.writing("store.delete_traces"); err != nil {
		return err
	}
	names := func(tr skald.Trace) bool { return bytes.Contains(tr.JSON, []byte(naming)) }
	if slices.ContainsFunc(t.read(ref).traces, names) {
		s := t.change(ref)
		s.traces = slices.DeleteFunc(slices.Clone(s.traces), names)
	}
	return nil
}

package codex

import (
	"bytes"
	"encoding/json"
	"iter"
	"os"

	"github.com/skald-engine/skald/ingest/record"
)

// original tells, for the items of a fork in order, whether they are a copy of the items at the same place of the rollout it came from.
// It reads that rollout alongside, and answers false for good after the first difference.
func original(path string) (copied func(payload []byte) bool, stop func()) {
	if path == "" {
		return func([]byte) bool { return false }, func() {}
	}
	next, stop := iter.Pull(payloads(path))
	same := true
	return func(payload []byte) bool {
		if !same {
			return false
		}
		want, ok := next()
		if same = ok && bytes.Equal(want, compact(payload)); !same {
			stop()
		}
		return same
	}, stop
}

// payloads yields the items of a rollout.
func payloads(path string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		for raw, err := range record.Lines(f) {
			if err != nil {
				return
			}
			l, ok := parse(raw.Text)
			if ok && (l.Type == typeItem || l.Type == typeCompacted) && !yield(compact(l.Payload)) {
				return
			}
		}
	}
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/skald-engine/skald"
)

func trace(n int) skald.Trace {
	return skald.Trace{TurnID: fmt.Sprintf("exchange-%d", n), AfterSeq: int64(n), Time: at(n), JSON: fmt.Appendf(nil, "{\"n\":%d}\xff", n)}
}

var traceTests = map[string]func(*testing.T, skald.Store){
	"NewestTwoHundredPerSession": func(t *testing.T, s skald.Store) {
		other := skald.SessionRef{Scope: alice, ID: "other"}
		update(t, s, func(tx skald.Tx) error {
			for n := range 205 {
				if err := tx.PutTrace(chat, trace(n)); err != nil {
					return err
				}
			}
			return tx.PutTrace(other, trace(1))
		})
		get := func(ref skald.SessionRef, q skald.TraceQuery) []skald.Trace {
			return read(t, s, func(tx skald.Tx) ([]skald.Trace, error) { return tx.Traces(ref, q) })
		}
		all := get(chat, skald.TraceQuery{})
		same(t, "kept", len(all), 200)
		same(t, "newest and oldest", []skald.Trace{all[0], all[199]}, []skald.Trace{trace(204), trace(5)})
		same(t, "limit", get(chat, skald.TraceQuery{Limit: 2}), []skald.Trace{trace(204), trace(203)})
		same(t, "by turn", get(chat, skald.TraceQuery{TurnID: "exchange-50"}), []skald.Trace{trace(50)})
		same(t, "by sequence", get(chat, skald.TraceQuery{AfterSeq: 60}), []skald.Trace{trace(60)})
		same(t, "both", get(chat, skald.TraceQuery{AfterSeq: 60, TurnID: "exchange-50"}), []skald.Trace(nil))
		same(t, "trimmed", get(chat, skald.TraceQuery{TurnID: "exchange-4"}), []skald.Trace(nil))
		same(t, "other session", get(other, skald.TraceQuery{}), []skald.Trace{trace(1)})
	},
	"DeletedByWhatTheyName": func(t *testing.T, s skald.Store) {
		other := skald.SessionRef{Scope: alice, ID: "other"}
		update(t, s, func(tx skald.Tx) error {
			return errors.Join(tx.PutTrace(chat, trace(1)), tx.PutTrace(chat, trace(11)), tx.PutTrace(chat, trace(2)), tx.PutTrace(other, trace(1)))
		})
		update(t, s, func(tx skald.Tx) error {
			nobody := skald.SessionRef{Scope: alice, ID: "nobody"}
			return errors.Join(tx.DeleteTraces(chat, `"n":1}`), tx.DeleteTraces(chat, `"n":3}`), tx.DeleteTraces(nobody, `"n":1}`))
		})
		list := func(ref skald.SessionRef) []skald.Trace {
			return read(t, s, func(tx skald.Tx) ([]skald.Trace, error) { return tx.Traces(ref, skald.TraceQuery{}) })
		}
		same(t, "what names nothing of it stays", list(chat), []skald.Trace{trace(2), trace(11)})
		same(t, "another session's stay", list(other), []skald.Trace{trace(1)})
	},
}

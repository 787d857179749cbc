package storetest

import (
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
}

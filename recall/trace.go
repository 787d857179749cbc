package recall

import (
	"time"
	"unicode/utf8"

	"github.com/skald-engine/skald"
)

// traceText is how much of a candidate's text the trace keeps, in characters; traceDropped how many dropped candidates.
const (
	traceText    = 120
	traceDropped = 100
)

// result lists what is shown and every candidate with the score of each stage.
func (c *course) result(began time.Time) Result {
	out := Result{Items: c.items, Tokens: c.tokens, Trace: skald.RecallTrace{Query: c.r.Query, Terms: c.terms(), Tokens: c.tokens,
		Millis: millis(began), Items: []skald.RecallCandidate{}, Dropped: []skald.RecallCandidate{}}}
	for _, k := range c.found {
		switch {
		case k.item != nil:
			out.Trace.Items = append(out.Trace.Items, k.traced())
		case len(out.Trace.Dropped) < traceDropped:
			out.Trace.Dropped = append(out.Trace.Dropped, k.traced())
		default:
			out.Trace.Left++
		}
	}
	if len(out.Items) == 0 {
		out.Trace.Skipped = "nothing above the threshold"
		if len(c.found) == 0 {
			out.Trace.Skipped = "nothing found"
		}
	}
	return out
}

func (c *course) nothing(why string, began time.Time) Result {
	return Result{Trace: skald.RecallTrace{Query: c.r.Query, Skipped: why, Millis: millis(began), Items: []skald.RecallCandidate{},
		Dropped: []skald.RecallCandidate{}}}
}

func millis(began time.Time) float64 { return round(float64(time.Since(began).Microseconds()) / 1000) }

func (k *candidate) traced() skald.RecallCandidate {
	out := skald.RecallCandidate{URI: k.uri, Kind: k.doc.Kind, Text: head(k.text), Score: round(k.score), Parts: k.parts, Why: k.why, Time: k.time}
	if k.why == "another audience" {
		out.Text = "" // the trace is shown to the one who asked (I9)
	}
	if out.URI == "" {
		out.URI = docURI(k.doc)
	}
	if k.item != nil {
		out.Tokens = k.item.tokens
	}
	return out
}

func docURI(d skald.Doc) skald.URI {
	switch {
	case d.URI != "":
		return d.URI
	case d.Kind == skald.DocArchive:
		return ref(d).ArchiveURI(int(d.Seq))
	}
	return ref(d).TurnsURI(d.Seq, d.Seq)
}

func head(s string) string {
	if utf8.RuneCountInString(s) <= traceText {
		return s
	}
	return string([]rune(s)[:traceText]) + "…"
}

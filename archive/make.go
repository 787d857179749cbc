package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
)

const summaryTries = 2 // of a model, for one part, before the builtin summariser stands in

// summary makes the archive's summary, part by part when it is long. fallback says that Builtin stood in for at least one part:
// the result is good, but can be redone (Redo).
func (r *Runner) summary(ctx context.Context, w *work) (sum Summary, fallback bool, err error) {
	parts := Parts(w.turns, PartSize)
	previous := w.previous
	var sums []Summary
	for _, p := range parts {
		in := Input{Turns: p, Previous: previous, Now: r.clock(), MaxTokens: max(Size(weigh(w.turns))/len(parts), 200)}
		s, fell, err := r.part(ctx, in)
		if err != nil {
			return sum, false, err
		}
		fallback = fallback || fell
		sums = append(sums, s)
		previous = Merge([]skald.Archive{{Overview: previous}, {Overview: s.Overview}})
	}
	return joinParts(sums), fallback, nil
}

// part asks the summariser, then Builtin. An answer that is empty, only reasoning, without sources or not shorter than what it
// sums up counts as none (CMP-07, CMP-09).
func (r *Runner) part(ctx context.Context, in Input) (Summary, bool, error) {
	if _, builtin := r.summarise.(Builtin); !builtin && counted(in.Turns) {
		for try := range summaryTries {
			s, err := r.ask(ctx, in)
			if err == nil {
				return s, false, nil
			}
			if ctx.Err() != nil {
				return s, false, ctx.Err()
			}
			r.log.Warn("summariser", "try", try+1, "error", err)
		}
		s, err := Builtin{}.Summarise(ctx, in)
		return s, true, err
	}
	s, err := Builtin{}.Summarise(ctx, in)
	return s, false, err
}

func (r *Runner) ask(ctx context.Context, in Input) (s Summary, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("summariser failed: %v", p)
		}
	}()
	if s, err = r.summarise.Summarise(ctx, in); err != nil {
		return s, err
	}
	return Check(in, s)
}

// counted reports whether there is anything to summarise.
func counted(turns []Turn) bool {
	for _, t := range turns {
		if t.Purpose == skald.PurposeTalk && !Ack(t.Text) {
			return true
		}
	}
	return false
}

// Check cleans a summary that a model wrote and says what makes it unusable. Reasoning is removed, unknown sections are not kept,
// each line has to name turns that were in the input.
func Check(in Input, s Summary) (Summary, error) {
	if len(in.Turns) == 0 {
		return s, nil
	}
	first, last := in.Turns[0].Seq, in.Turns[len(in.Turns)-1].Seq
	byTitle := map[string][]skald.Line{}
	said := 0
	for _, sec := range s.Overview {
		for _, l := range sec.Lines {
			l.Text, said = oneLine(clean(l.Text)), said+1
			if l.Text == "" || l.From < first || l.To > last || l.To < l.From {
				continue
			}
			byTitle[sec.Title] = append(byTitle[sec.Title], l)
		}
	}
	out := Summary{Abstract: oneLine(clean(s.Abstract)), Overview: ordered(byTitle)}
	switch source := sourceTokens(in.Turns); {
	case said == 0:
		return s, errors.New("the summary is empty")
	case len(out.Overview) == 0:
		return s, errors.New("no line of the summary can be used: empty, or without turns of the archive")
	case source > 100 && lineTokens(out.Overview) >= source:
		return s, fmt.Errorf("the summary has %d tokens, its source %d", lineTokens(out.Overview), source)
	}
	if out.Abstract == "" {
		out.Abstract = clip(out.Overview[0].Lines[0].Text, 160)
	}
	return out, nil
}

// sourceTokens counts the tokens of what the turns say and call.
func sourceTokens(turns []Turn) (n int) {
	for _, t := range turns {
		if t.Purpose != skald.PurposeTalk {
			continue
		}
		n += tokens(t.Text)
		for _, c := range t.ToolCalls {
			n += tokens(c.Arguments)
		}
	}
	return n
}

// joinParts makes one summary of those of the parts.
func joinParts(sums []Summary) (out Summary) {
	var abstracts []string
	archives := make([]skald.Archive, len(sums))
	for i, s := range sums {
		archives[i].Overview = s.Overview
		if s.Abstract != "" {
			abstracts = append(abstracts, strings.TrimRight(s.Abstract, "."))
		}
	}
	out.Overview = Merge(archives)
	if len(sums) == 1 {
		out.Overview = sums[0].Overview
	}
	if len(abstracts) > 0 {
		out.Abstract = clip(strings.Join(abstracts, "; "), 300) + "."
		if len(sums) == 1 {
			out.Abstract = sums[0].Abstract
		}
	}
	return out
}

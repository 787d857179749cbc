package trial

import "time"

// report sums up.
func (t *trial) report(source string, r found) Report {
	report := Report{
		Source: source, Window: t.options.Window, Budget: t.options.Budget, Skipped: r.skipped, Avoided: t.judge.avoided,
		Facts: append([]Repetition{}, t.judge.facts...), Rereads: append([]Repetition{}, t.judge.rereads...),
		Sessions: []Session{}, Assumptions: assumptions(t.options, len(r.notes)),
	}
	for _, l := range t.lanes {
		s := l.report(report)
		report.Sessions = append(report.Sessions, s)
		report.Messages += s.Messages
		report.Exchanges += s.Exchanges
		report.Legacy.add(s.Legacy)
		report.Skald.add(s.Skald)
		report.span(s.Started, l.session.last)
	}
	report.Legacy.finish()
	report.Skald.finish()
	return report
}

func (r *Report) span(from, to time.Time) {
	if r.From.IsZero() || from.Before(r.From) {
		r.From = from
	}
	if to.After(r.To) {
		r.To = to
	}
}

func (l *lane) report(r Report) Session {
	s := Session{
		Number: l.session.number, Name: l.session.name(), Origin: l.session.origin, Agent: l.session.agent, Started: l.session.started,
		Messages: len(l.session.messages), Exchanges: l.exchanges, Points: append([]Point{}, l.points...), Legacy: l.legacy.figures, Skald: l.skald.figures,
		Facts: counted(r.Facts, l.session.number), Rereads: counted(r.Rereads, l.session.number),
	}
	for _, p := range l.points {
		s.Legacy.read(p.Legacy)
		s.Skald.read(p.Skald)
	}
	s.Legacy.finish()
	s.Skald.finish()
	return s
}

func counted(list []Repetition, session int) (n int) {
	for _, r := range list {
		if r.Counted && r.Now.Session == session {
			n++
		}
	}
	return n
}

// read takes in what an exchange's first request showed.
func (f *Figures) read(r Reading) {
	f.References += r.References
	f.InView += r.InView
	f.OutOfView = r.OutOfView
}

func (f *Figures) add(o Figures) {
	f.Requests += o.Requests
	f.Tokens += o.Tokens
	f.Largest = max(f.Largest, o.Largest)
	f.Cached += o.Cached
	f.OverWindow += o.OverWindow
	f.Changes += o.Changes
	f.OutOfView += o.OutOfView
	f.References += o.References
	f.InView += o.InView
	f.kept += o.kept
	f.keptOf += o.keptOf
}

// finish works the shares out.
func (f *Figures) finish() {
	if f.Requests > 0 {
		f.Mean = float64(f.Tokens) / float64(f.Requests)
	}
	f.Cacheable, f.Kept = share(f.Cached, f.Tokens), share(f.kept, f.keptOf)
}

// share of nothing is 1: nothing was lost.
func share(part, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(part) / float64(of)
}

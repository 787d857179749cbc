package strategy

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// Publish implements Strategy: the oldest exchanges are replaced by their prepared summaries until head and raw turns fit the
// target. Only whole exchanges leave, only archived ones, and the newest target.Keep turns stay.
func (Viking) Publish(tx skald.Tx, in Input, target Target) (Publication, error) {
	return publish(tx, in, target, Head)
}

// headMaker builds the first message for what was published: Head, or a strategy's own.
type headMaker func(tx skald.Tx, in Input, published []skald.Archive, budget int) (serialised, text string, err error)

func publish(tx skald.Tx, in Input, target Target, makeHead headMaker) (Publication, error) {
	list, whole, err := view(tx, in, 2*in.Budget) // what lies further back leaves in any case
	if err != nil || len(list) < 2 {
		return Publication{}, err
	}
	archives, through, err := summarised(tx, in.Session, target.Force)
	if err != nil {
		return Publication{}, err
	}
	if !whole && through < list[0].first()-1 {
		return Publication{}, nil // not archived yet
	}
	head := tokensOfHead(in.Session.Head)
	leaving := choose(list, through, target, int(headShare*float64(in.Budget)))
	if leaving == 0 && whole {
		return Publication{}, nil
	}
	p := Publication{Through: list[leaving].first() - 1, Before: head + tokensOf(list), FirstKept: list[leaving].first()}
	p.Head, p.Summary, err = makeHead(tx, in, Covered(archives, in.Session.Epoch, p.Through), in.Budget)
	if err != nil {
		return Publication{}, err
	}
	p.After = tokensOfHead(p.Head) + tokensOf(list[leaving:])
	if p.After >= p.Before || !target.Force && p.After > p.Before*9/10 {
		return Publication{}, nil // the prefix is worth more than so small a gain
	}
	return p, nil
}

// summarised lists the session's archives and the last sequence whose summary is ready, without a gap. With force an archive counts
// whose summary is still being made: the history stays readable by its id.
func summarised(tx skald.Tx, s skald.Session, force bool) ([]skald.Archive, int64, error) {
	archives, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return nil, 0, err
	}
	through := int64(0)
	for _, a := range archives {
		if len(a.Overview) == 0 && a.State != skald.ArchiveDone && !force {
			break
		}
		through = a.To
	}
	return archives, through, nil
}

// choose returns how many of the oldest exchanges leave: the fewest with which the rest fits the target, or as many as may leave
// when none does.
func choose(list []exchange, through int64, target Target, head int) int {
	rest, leaving := tokensOf(list), 0
	for i := 0; i < len(list)-1; i++ {
		if list[i].last() > through || countTurns(list[i+1:]) < target.Keep {
			break
		}
		rest -= list[i].tokens
		leaving = i + 1
		if head+rest <= target.Tokens {
			break
		}
	}
	return leaving
}

// Covered lists the epoch's archives up to the published sequence, without the lines whose turns are still shown raw: nothing
// stands in the context twice (CMP-12).
func Covered(archives []skald.Archive, epoch int, through int64) []skald.Archive {
	var out []skald.Archive
	for _, a := range archives {
		if a.Epoch != epoch || a.From > through {
			continue
		}
		if a.To > through {
			a.Overview, a.Abstract = upTo(a.Overview, through), ""
		}
		out = append(out, a)
	}
	return out
}

func upTo(sections []skald.Section, through int64) []skald.Section {
	var out []skald.Section
	for _, s := range sections {
		kept := skald.Section{Title: s.Title}
		for _, l := range s.Lines {
			if l.To <= through {
				kept.Lines = append(kept.Lines, l)
			}
		}
		if len(kept.Lines) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

func tokensOfHead(head string) int {
	n := 0
	for _, m := range headMessages(head) {
		n += message.Tokens(m)
	}
	return n
}

package backend

import (
	"context"
	"slices"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/api"
)

// SessionContext implements api.Backend: what was said since the last reset, as summaries where they are written and raw where
// not, within budget (ASM-08, ARC-02, TOK-06). Tokens are those of the stored messages and of the texts.
func (b *Backend) SessionContext(ctx context.Context, id skald.Identity, session string, budget int) (out api.Context, err error) {
	ref := b.ref(id, session)
	err = b.store.View(ctx, func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		if err != nil {
			return err
		}
		h, err := b.readHistory(tx, s)
		if err != nil {
			return err
		}
		out, err = h.fit(tx, budget)
		return err
	})
	return out, err
}

// history is what competes for the budget. The raw turns have no payload yet: only those that fit are read.
type history struct {
	ref      skald.SessionRef
	limits   api.ResultLimits
	archives []skald.Archive // with an overview, oldest first
	raw      []skald.Turn    // of archives without one, and the open ones
	stats    api.ContextStats
}

func (b *Backend) readHistory(tx skald.Tx, s skald.Session) (history, error) {
	h := history{ref: s.Ref, limits: b.limits}
	all, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return h, err
	}
	h.stats.TotalArchives = len(all)
	for _, a := range all {
		if a.State == skald.ArchiveFailed {
			h.stats.FailedArchives++
		}
		switch {
		case a.Epoch != s.Epoch: // before a reset
		case len(a.Overview) > 0:
			h.archives = append(h.archives, a)
		default:
			if err := h.add(tx, s, a.From, a.To); err != nil {
				return h, err
			}
		}
	}
	return h, h.add(tx, s, s.OpenFrom, s.LastSeq)
}

// add takes a run of raw turns. What was forgotten is not shown, and what was purged cannot be.
func (h *history) add(tx skald.Tx, s skald.Session, from, to int64) error {
	if to < from {
		return nil
	}
	turns, err := tx.Turns(s.Ref, skald.TurnQuery{From: from, To: to, Epoch: s.Epoch, NoRaw: true})
	h.raw = append(h.raw, slices.DeleteFunc(turns, func(t skald.Turn) bool { return t.Forgotten || t.Purged })...)
	return err
}

// fit gives the newest exchange its place first, then as many older ones as fit beside a share for the overview, then the overview,
// then the abstracts of older archives, newest first.
func (h *history) fit(tx skald.Tx, budget int) (api.Context, error) {
	out := api.Context{Stats: h.stats}
	overview, uri := h.overview()
	share := min(message.TextTokens(overview), budget/4)
	messages, err := h.newest(tx, budget-share)
	if err != nil {
		return out, err
	}
	out.Messages = hostMessages(messages)
	out.Stats.ActiveTokens = tokensOf(messages)
	room := budget - out.Stats.ActiveTokens
	if out.Overview = cutLines(overview, room, uri); out.Overview != "" {
		out.Stats.IncludedArchives++
	}
	room -= message.TextTokens(out.Overview)
	room -= h.abstracts(&out, room)
	out.Stats.DroppedArchives = len(h.archives) - out.Stats.IncludedArchives
	out.Tokens = budget - room
	out.Stats.ArchiveTokens = out.Tokens - out.Stats.ActiveTokens
	return out, nil
}

// overview is that of the newest archive which has one, and where the whole of it can be read.
func (h *history) overview() (text string, uri skald.URI) {
	if len(h.archives) == 0 {
		return "", ""
	}
	a := h.archives[len(h.archives)-1]
	return archive.Text(a), h.ref.ArchiveURI(a.Index).Join(".overview.md")
}

// abstracts adds one line for each older archive while there is room, and returns the tokens that they take.
func (h *history) abstracts(out *api.Context, room int) (used int) {
	older := h.archives[:max(0, len(h.archives)-1)]
	for _, a := range slices.Backward(older) {
		line := api.ArchiveAbstract{Archive: skald.ArchiveID(a.Index), Abstract: a.Abstract}
		n := message.TextTokens(line.Archive + line.Abstract)
		if used+n > room {
			break
		}
		used += n
		out.Stats.IncludedArchives++
		out.Abstracts = append(out.Abstracts, line)
	}
	slices.Reverse(out.Abstracts)
	return used
}

// newest reads the newest exchanges that fit into room tokens. The very newest is shortened rather than left out.
func (h *history) newest(tx skald.Tx, room int) ([]skald.Turn, error) {
	list := exchanges(h.raw)
	if len(list) == 0 {
		return nil, nil
	}
	from, tokens := len(list), 0
	for from > 0 {
		if err := h.stub(tx, list[from-1]); err != nil {
			return nil, err
		}
		n := tokensOf(list[from-1])
		if from < len(list) && tokens+n > room {
			break
		}
		from--
		tokens += n
	}
	turns, err := payloads(tx, h.ref, slices.Concat(list[from:]...))
	if err == nil && tokens > room {
		turns = squeeze(h.ref, turns, room)
	}
	return turns, err
}

// stub reads those runs of results of an exchange that may be long, and shows them as they are going to be shown.
func (h *history) stub(tx skald.Tx, exchange []skald.Turn) error {
	for at := 0; at < len(exchange); {
		run := runs(exchange[at:])[0]
		if mayBeLong(run, h.limits) {
			full, err := payloads(tx, h.ref, run)
			if err != nil {
				return err
			}
			copy(exchange[at:], shown(h.ref, full, h.limits))
		}
		at += len(run)
	}
	return nil
}

// payloads reads the messages of turns, run by run: what lies between two runs is in a summary.
func payloads(tx skald.Tx, ref skald.SessionRef, turns []skald.Turn) ([]skald.Turn, error) {
	var full []skald.Turn
	for from := 0; from < len(turns); {
		if turns[from].Raw != nil { // at hand already
			full, from = append(full, turns[from]), from+1
			continue
		}
		to := from
		for to+1 < len(turns) && turns[to+1].Seq == turns[to].Seq+1 && turns[to+1].Raw == nil {
			to++
		}
		run, err := tx.Turns(ref, skald.TurnQuery{From: turns[from].Seq, To: turns[to].Seq})
		if err != nil {
			return nil, err
		}
		full, from = append(full, run...), to+1
	}
	return full, nil
}

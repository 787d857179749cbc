package replay

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// view is what the adapter keeps within one exchange: the first assemble's result.
type view struct {
	result skald.AssembleResult
	have   bool
}

// modelCall is the host's call of the model for message i of the exchange, and measures the request that it would get.
func (p *Player) modelCall(ctx context.Context, x exchange, i int) error {
	pending := x.pending(i)
	if !p.view.have || p.view.result.EstimatedTokens+pending > p.options.Budget {
		err := p.assemble(ctx, x, i)
		if skald.KindOf(err) == skald.KindBudget {
			p.view = view{} // the host would use its own messages this time, and ask again before the next call
			p.report.Refused++
			p.watch.interrupted()
			p.observe(Call{Start: x.start, Message: x.start + i, First: i == firstAnswer(x), Refused: true, Pending: x.raws(i)})
			return nil
		}
		if err != nil {
			return err
		}
	}
	p.report.Assembles++
	call := p.watch.request(request{
		before: p.view.result.Messages, pending: x.raws(i), users: min(x.users, i), projection: p.view.result.ProjectionEpoch,
		first: i == firstAnswer(x), budget: p.options.Budget,
	}, &p.report)
	call.Start, call.Message = x.start, x.start+i
	p.observe(call)
	return nil
}

func firstAnswer(x exchange) int {
	return slices.IndexFunc(x.entries, func(e entry) bool { return e.msg.SkaldRole() == skald.RoleAssistant })
}

// assemble asks the engine, with more of the host's list when what was sent did not meet the store.
func (p *Player) assemble(ctx context.Context, x exchange, i int) error {
	list := p.hostList(x)
	r := skald.AssembleRequest{
		Request: p.at(x.entries[max(0, i-1)].time), Prompt: x.prompt(), TokenBudget: p.options.Budget, MessageCount: len(list),
		Tail: tail(list, TailSize), Pending: x.pending(i), TurnID: p.turnID(x),
	}
	for range 10 {
		started := time.Now()
		result, err := p.target.Engine.Assemble(ctx, r)
		p.watch.assembles = append(p.watch.assembles, time.Since(started))
		if err != nil {
			return err
		}
		if result.NeedTail == 0 || len(r.Tail) == len(list) {
			p.view = view{result: result, have: true}
			return nil
		}
		r.Tail = tail(list, max(result.NeedTail, len(r.Tail)+1))
	}
	return errors.New("assemble asked for more of the host's list ten times")
}

// hostList is the host's list before the exchange.
func (p *Player) hostList(x exchange) []json.RawMessage {
	return append(slices.Clip(p.history.before), p.messages[:x.start]...)
}

func tail(list []json.RawMessage, n int) []json.RawMessage { return list[max(0, len(list)-n):] }

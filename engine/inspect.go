package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/strategy"
)

// Status implements skald.Inspector.
func (e *Engine) Status(ctx context.Context, id skald.Identity) (skald.Status, error) {
	st := skald.Status{
		Version: e.opts.Version, Protocol: skald.ProtocolVersion, Started: e.started, Strategy: e.strategy.Name(),
		Attention: []string{}, CaptureOff: e.skipped.get(), Faults: e.faults.all(), RecallSkips: e.recall.skips(),
	}
	health, err := e.store.Health(ctx)
	if err != nil {
		return st, err
	}
	st.Store = health
	return st, e.store.View(ctx, func(tx skald.Tx) error {
		scopes := e.opts.Policy.Readable(id)
		sessions, err := tx.Sessions(skald.SessionQuery{Scopes: scopes})
		if err != nil {
			return err
		}
		st.Sessions, st.Bypassed = len(sessions), e.bypasses.of(scopes)
		for _, s := range sessions {
			if s.Attention != "" {
				st.Attention = append(st.Attention, s.Ref.ID+": "+s.Attention)
			}
			if s.LastCommitTurn.After(st.LastCommitTurn) {
				st.LastCommitTurn = s.LastCommitTurn
			}
		}
		return e.countQueues(tx, scopes, &st)
	})
}

func (e *Engine) countQueues(tx skald.Tx, scopes []skald.Scope, st *skald.Status) error {
	jobs, err := tx.Jobs(scopes, 1000)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		switch j.State {
		case skald.JobReady:
			st.JobsReady++
		case skald.JobFailed:
			st.JobsFailed++
		}
	}
	letters, err := tx.DeadLetters(scopes, 1000)
	st.DeadLetters = len(letters)
	return err
}

// ListSessions implements skald.Inspector.
func (e *Engine) ListSessions(ctx context.Context, id skald.Identity, limit int) (list []skald.SessionInfo, err error) {
	err = e.store.View(ctx, func(tx skald.Tx) error {
		sessions, err := tx.Sessions(skald.SessionQuery{Scopes: e.opts.Policy.Readable(id), Limit: limit})
		for _, s := range sessions {
			if s.LastSeq == 0 && s.Audience == skald.AudienceSubagent {
				continue // a child that has not spoken yet
			}
			list = append(list, describe(s))
		}
		return err
	})
	return list, err
}

func describe(s skald.Session) skald.SessionInfo {
	return skald.SessionInfo{
		ID: s.Ref.ID, URI: s.Ref.URI(), Key: s.Key, Agent: s.Agent, Audience: s.Audience, Turns: s.LastSeq, Epoch: s.Epoch,
		Open: s.LastSeq - s.OpenFrom + 1, Archives: s.Archives, Published: s.Published, Created: s.Created, Updated: s.Updated,
		Attention: s.Attention, Parent: s.Parent, LastStored: s.LastCommitTurn,
	}
}

// find looks a session up by its stored id, the host's id, or the host's key.
func (e *Engine) find(tx skald.Tx, id skald.Identity, session string) (skald.Session, error) {
	scope := e.opts.Policy.UserScope(id)
	for _, candidate := range []string{session, skald.SessionID(session, ""), skald.SessionID("", session)} {
		s, err := tx.Session(skald.SessionRef{Scope: scope, ID: candidate})
		if skald.KindOf(err) != skald.KindNotFound {
			return s, err
		}
	}
	return skald.Session{}, Gone(tx, skald.SessionRef{Scope: scope, ID: skald.SessionID(session, "")}, skald.NotFound("session", session))
}

// ListTurns implements skald.Inspector.
func (e *Engine) ListTurns(ctx context.Context, id skald.Identity, session string, from, to int64) (list []skald.TurnInfo, err error) {
	if from < 0 || to < 0 || to > 0 && from > to {
		return nil, skald.Invalid("turns", "from", "%d to %d is no range of sequences", from, to)
	}
	err = e.store.View(ctx, func(tx skald.Tx) error {
		s, err := e.find(tx, id, session)
		if err != nil {
			return err
		}
		turns, err := tx.Turns(s.Ref, skald.TurnQuery{From: from, To: to})
		if err != nil {
			return err
		}
		used, err := usedContext(tx, s.Ref)
		for _, t := range turns {
			list = append(list, skald.TurnInfo{
				Envelope: envelope(s, t, used), Raw: t.Raw, URI: s.Ref.TurnsURI(t.Seq, t.Seq), Epoch: t.Epoch,
				Tokens: t.Tokens, Origin: t.Origin, Audience: t.Audience, Purpose: t.Purpose, EntryID: t.EntryID, Source: t.Source,
				Forgotten: t.Forgotten, Purged: t.Purged,
			})
		}
		return err
	})
	return list, err
}

// usedContext maps a turn id to the URIs that were injected for it (000-107).
func usedContext(tx skald.Tx, ref skald.SessionRef) (map[string][]string, error) {
	placed, err := tx.Recalls(ref, 0)
	used := map[string][]string{}
	for _, p := range placed {
		used[p.TurnID] = p.URIs
	}
	return used, err
}

// Explain implements skald.Inspector.
func (e *Engine) Explain(ctx context.Context, id skald.Identity, session string, seq int64) (x skald.Explanation, err error) {
	err = e.store.View(ctx, func(tx skald.Tx) error {
		s, err := e.find(tx, id, session)
		if err != nil {
			return err
		}
		traces, err := tx.Traces(s.Ref, skald.TraceQuery{})
		if err != nil {
			return err
		}
		for _, t := range traces {
			if seq > 0 && t.AfterSeq >= seq { // the assemble for turn n stands after turn n-1
				continue
			}
			if err := json.Unmarshal(t.JSON, &x); err != nil {
				return skald.E("explain", skald.KindInternal, "the kept trace is damaged: %w", err)
			}
			return e.completePacket(tx, s, &x)
		}
		return skald.NotFound("explain", fmt.Sprintf("an assemble of session %s before turn %d (the newest 200 are kept)", session, seq))
	})
	return x, err
}

// completePacket adds to an explanation what is not kept with it because it can be read again: the turns, the summaries.
func (e *Engine) completePacket(tx skald.Tx, s skald.Session, x *skald.Explanation) error {
	p := &x.Packet
	p.RecentRawTurns, p.ProfileBlocks, p.CompactSummaries = []skald.TurnEnvelope{}, []string{}, []skald.CompactSummary{}
	if p.RecalledMemories == nil {
		p.RecalledMemories = []skald.RecalledMemory{}
	}
	if p.InjectedMessages == nil {
		p.InjectedMessages = []json.RawMessage{}
	}
	if m, err := message.Parse([]byte(s.Head)); err == nil {
		p.ProfileBlocks = append(p.ProfileBlocks, m.Text())
	}
	archives, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return err
	}
	for _, a := range strategy.Covered(archives, s.Epoch, s.Published) {
		p.CompactSummaries = append(p.CompactSummaries, skald.CompactSummary{
			SessionURI: string(s.Ref.ArchiveURI(a.Index)), Abstract: a.Abstract, Overview: archive.Text(a)})
	}
	if x.RawFrom == 0 {
		return nil
	}
	turns, err := tx.Turns(s.Ref, skald.TurnQuery{From: x.RawFrom, To: x.RawTo, Epoch: s.Epoch})
	if err != nil {
		return err
	}
	used, err := usedContext(tx, s.Ref)
	for _, t := range turns {
		p.RecentRawTurns = append(p.RecentRawTurns, envelope(s, t, used))
	}
	return err
}

// Commit implements skald.Inspector.
func (e *Engine) Commit(ctx context.Context, id skald.Identity, session string, wait bool) (skald.CommitResult, error) {
	var a skald.Archive
	var ref skald.SessionRef
	closed := false
	err := e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := e.find(tx, id, session)
		if err != nil {
			return err
		}
		ref = s.Ref
		if a, closed, err = archive.Close(tx, &s, "api", e.opts.Clock().UTC()); err != nil {
			return err
		}
		return tx.PutSession(s)
	})
	result := skald.CommitResult{SessionID: ref.ID, Archived: closed}
	if err != nil || !closed {
		result.Reason = "no open turns"
		return result, err
	}
	e.opts.Metrics.Count("commits", 1)
	e.runner.Wake()
	if wait {
		if err := e.await(ctx, ref, a.Index); err != nil {
			return result, err
		}
	}
	return e.commitResult(ctx, ref, a.Index, result)
}

func (e *Engine) commitResult(ctx context.Context, ref skald.SessionRef, index int, result skald.CommitResult) (skald.CommitResult, error) {
	err := e.store.View(ctx, func(tx skald.Tx) error {
		a, err := tx.Archive(ref, index)
		if err != nil {
			return err
		}
		result.Archive, result.State, result.Memories = ref.ArchiveURI(index), a.State, a.Memories
		list, err := tx.Checkpoints(ref)
		for i := range list {
			if list[i].ArchiveIndex == index {
				result.Checkpoint = &list[i]
			}
		}
		return err
	})
	return result, err
}

// DryAssemble implements skald.Inspector.
func (e *Engine) DryAssemble(ctx context.Context, id skald.Identity, session, prompt string, budget int) (skald.AssembleResult, error) {
	r := skald.AssembleRequest{Prompt: prompt, TokenBudget: budget, DryRun: true, MessageCount: 1}
	r.Identity, r.Session = id, skald.SessionAddress{SessionID: session, AgentID: id.Agent}
	err := e.store.View(ctx, func(tx skald.Tx) error {
		s, err := e.find(tx, id, session)
		if skald.KindOf(err) == skald.KindNotFound {
			return nil
		}
		r.Session.SessionID, r.Session.SessionKey = s.Ref.ID, ""
		return err
	})
	if err != nil {
		return skald.AssembleResult{}, err
	}
	return e.Assemble(ctx, r)
}

// Now is the engine's clock.
func (e *Engine) Now() time.Time { return e.opts.Clock().UTC() }

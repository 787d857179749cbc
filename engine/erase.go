package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/message"
)

// forgottenKind is the kind of the receipts of what was forgotten or purged. They hold no words of it.
const forgottenKind = "forgotten"

var errDryRun = errors.New("dry run")

// outOfReach are the copies that a purge cannot touch.
var outOfReach = []string{"the host's own transcript", "backups and exported packs", "what a provider of models was sent"}

// ForgetSource implements skald.Inspector.
func (e *Engine) ForgetSource(ctx context.Context, id skald.Identity, r skald.ForgetRequest) (skald.ForgetReceipt, error) {
	receipt := skald.ForgetReceipt{At: e.Now(), DryRun: r.DryRun, Purged: r.Purge,
		Turns: []skald.URI{}, Memories: []skald.URI{}, Archives: []skald.URI{}, Unreached: []string{}}
	err := e.store.Update(ctx, func(tx skald.Tx) error {
		uri, choices, err := e.target(ctx, tx, id, r)
		receipt.Choices = choices
		if err != nil || uri == "" {
			return err
		}
		done, err := e.forgetURI(tx, id, uri)
		if err == nil && r.Purge {
			done, err = e.erase(tx, id, done)
		}
		if err != nil {
			return err
		}
		if tell(&receipt, uri, done); r.DryRun {
			return errDryRun
		}
		return record(tx, e.opts.Policy.UserScope(id), receipt)
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return receipt, err
}

// target is what is to be forgotten: the memory or the turns that were named, or the one strong find of a query, else choices.
func (e *Engine) target(ctx context.Context, tx skald.Tx, id skald.Identity, r skald.ForgetRequest) (skald.URI, []skald.RecallCandidate, error) {
	if strings.HasPrefix(r.What, "viking://") {
		uri, err := skald.ParseURI(r.What, id, e.opts.Policy)
		return uri, nil, err
	}
	if strings.TrimSpace(r.What) == "" {
		return "", nil, skald.Invalid("forget", "what", "give the uri of a memory or of turns, or a query that finds one")
	}
	asking := e.NewSession(id, "")
	asking.Audience = skald.AudienceDirect
	found, err := e.search(ctx, tx, id, e.opts.Policy, asking, skald.FindQuery{Query: r.What, Limit: 5,
		Kinds: []skald.DocKind{skald.DocMemory, skald.DocTurn}})
	if err != nil {
		return "", nil, err
	}
	list := found.Trace.Items
	switch {
	case len(list) == 0:
		return "", nil, skald.NotFound("forget", r.What)
	case list[0].Score >= forgetSure && (len(list) == 1 || list[1].Score < list[0].Score*0.8):
		return list[0].URI, nil, nil
	}
	return "", list, nil
}

// forgetURI forgets a memory, or turns.
func (e *Engine) forgetURI(tx skald.Tx, id skald.Identity, uri skald.URI) (memory.Receipt, error) {
	scopes := e.opts.Policy.Readable(id)
	t, err := uri.Resolve(id.Account)
	if err != nil {
		return memory.Receipt{}, err
	}
	if t.Memory {
		return e.forget(tx, scopes, uri, e.Now())
	}
	if t.From == 0 || !slices.Contains(scopes, t.Scope) {
		return memory.Receipt{}, skald.Invalid("forget", "what", "%s is neither a memory nor turns of yours (…/turns/12-14); `skald delete` deletes a session", uri)
	}
	ref := skald.SessionRef{Scope: t.Scope, ID: t.Session}
	if _, err := tx.Session(ref); err != nil {
		return memory.Receipt{}, Gone(tx, ref, err)
	}
	return e.forgetting(tx, scopes, e.Now(), func() (memory.Receipt, error) {
		return memory.ForgetTurns(tx, scopes, skald.MemorySource{Session: ref, From: t.From, To: max(t.From, t.To)})
	})
}

// erase destroys the payloads of what was forgotten, and of every turn, memory, summary line and recall that repeats eight words of it.
func (e *Engine) erase(tx skald.Tx, id skald.Identity, done memory.Receipt) (memory.Receipt, error) {
	scopes := e.opts.Policy.Readable(id)
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: scopes})
	if err != nil {
		return done, err
	}
	runs, err := runsOf(tx, done.Turns)
	if err != nil {
		return done, err
	}
	for _, s := range sessions {
		more, err := e.eraseTurns(tx, scopes, s, runs, done)
		if err != nil {
			return done, err
		}
		done.Turns, done.Archives, done.Memories = more.Turns, more.Archives, more.Memories
	}
	gone, err := memory.Erase(tx, scopes, sessions, runs.in)
	done.Memories = append(done.Memories, gone...)
	for _, s := range sessions {
		if err == nil {
			err = e.eraseShown(tx, s.Ref, runs, done)
		}
	}
	return done, err
}

func runsOf(tx skald.Tx, turns []skald.MemorySource) (wordRuns, error) {
	runs := newRuns()
	for _, src := range turns {
		list, err := tx.Turns(src.Session, skald.TurnQuery{From: src.From, To: src.To})
		if err != nil {
			return runs, err
		}
		for _, t := range list {
			runs.add(spokenIn(t))
		}
	}
	return runs, nil
}

func spokenIn(t skald.Turn) string {
	if m, err := message.Parse(t.Raw); err == nil {
		return m.Text()
	}
	return string(t.Raw)
}

// eraseTurns purges the turns of a session that were forgotten, and forgets and purges those that repeat them.
func (e *Engine) eraseTurns(tx skald.Tx, scopes []skald.Scope, s skald.Session, runs wordRuns, done memory.Receipt) (memory.Receipt, error) {
	for from := int64(1); from <= s.LastSeq; from += verifyPage {
		page, err := tx.Turns(s.Ref, skald.TurnQuery{From: from, To: from + verifyPage - 1})
		if err != nil {
			return done, err
		}
		for _, t := range page {
			at := skald.MemorySource{Session: s.Ref, From: t.Seq, To: t.Seq}
			named := slices.Contains(done.Turns, at)
			if t.Purged || !named && !runs.in(spokenIn(t)) {
				continue
			}
			if !named {
				more, err := memory.ForgetTurns(tx, scopes, at)
				if err != nil {
					return done, err
				}
				done.Turns, done.Archives = append(done.Turns, at), append(done.Archives, more.Archives...)
				done.Memories = append(done.Memories, more.Memories...)
			}
			t.Forgotten, t.Purged, t.Speaker = true, true, ""
			if err := tx.UpdateTurn(s.Ref, t); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// eraseShown empties what a session was shown, and its first message, where they quote what is purged.
func (e *Engine) eraseShown(tx skald.Tx, ref skald.SessionRef, runs wordRuns, done memory.Receipt) error {
	for _, src := range done.Turns {
		if err := tx.DeleteTraces(ref, string(src.Session.URI())+"/"); err != nil {
			return err
		}
	}
	for _, u := range done.Memories {
		if err := tx.DeleteTraces(ref, string(u)); err != nil {
			return err
		}
	}
	traces, err := tx.Traces(ref, skald.TraceQuery{}) // a question may have quoted it
	for _, tr := range traces {
		if err == nil && runs.in(string(tr.JSON)) {
			err = tx.DeleteTraces(ref, string(tr.JSON))
		}
	}
	if err != nil {
		return err
	}
	placed, err := tx.Recalls(ref, 0)
	for _, r := range placed {
		quoted := slices.ContainsFunc(r.Messages, func(m []byte) bool { return runs.in(spokenIn(skald.Turn{Raw: m})) || runs.in(string(m)) })
		if err == nil && quoted {
			err = tx.PutRecall(ref, skald.PlacedRecall{AfterSeq: r.AfterSeq, TurnID: r.TurnID, Time: r.Time})
		}
	}
	if err != nil {
		return err
	}
	s, err := tx.Session(ref)
	if err != nil || !runs.in(s.Head) {
		return err
	}
	return e.renewHead(tx, s, e.Now())
}

// tell names by URIs what a forgetting removed.
func tell(r *skald.ForgetReceipt, uri skald.URI, done memory.Receipt) {
	r.URI, r.Unreached = uri, outOfReach
	for _, src := range done.Turns {
		r.Turns = append(r.Turns, src.Session.TurnsURI(src.From, src.To))
	}
	r.Memories, r.Archives = append(r.Memories, done.Memories...), append(r.Archives, done.Archives...)
	for _, list := range []*[]skald.URI{&r.Turns, &r.Memories, &r.Archives} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

func record(tx skald.Tx, scope skald.Scope, r skald.ForgetReceipt) error {
	body, err := json.Marshal(r)
	if err != nil {
		return skald.E("forget", skald.KindInternal, "%w", err)
	}
	name := fmt.Sprintf("%s-%s", r.At.UTC().Format(time.RFC3339Nano), r.URI.Name())
	return tx.PutRecord(skald.Record{Scope: scope, Kind: forgottenKind, ID: name, Body: body, Updated: r.At})
}

package engine

import (
	"context"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/strategy"
)

// PrepareSubagent gives the child what its mode asks for: isolated, the default, nothing but the agent's scope; fork, the parent's
// profile and overview (design, "Sub-agents").
func (e *Engine) PrepareSubagent(ctx context.Context, r skald.SubagentRequest) error {
	parent, child, err := e.family(r)
	if err != nil {
		return err
	}
	now := e.now(r.Request)
	return e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := open(tx, child, childRequest(r), now)
		if err != nil {
			return err
		}
		if parent, err = named(tx, parent, r.Session.SessionID, r.Session.SessionKey); err != nil {
			return err
		}
		p, err := tx.Session(parent)
		if err != nil && skald.KindOf(err) != skald.KindNotFound {
			return err
		}
		s.Audience = skald.AudienceSubagent
		s.Parent = parentTurn(parent, p)
		if s.LastSeq > 0 { // a child that goes on keeps what it has seen
			return tx.PutSession(s)
		}
		if s.Head, s.HeadSet = "", true; r.Mode == "fork" {
			if s.Head, err = e.forkHead(tx, p); err != nil {
				return err
			}
		}
		return tx.PutSession(s)
	})
}

// parentTurn is the turn that opens the exchange which spawned the child: it is stored when that exchange ends.
func parentTurn(parent skald.SessionRef, p skald.Session) string {
	if parent.ID == "" {
		return ""
	}
	return string(parent.TurnsURI(p.LastSeq+1, 0))
}

// forkHead is the parent's first message: its profile and all that was archived so far.
func (e *Engine) forkHead(tx skald.Tx, parent skald.Session) (string, error) {
	if parent.LastSeq == 0 {
		return parent.Head, nil
	}
	archives, err := tx.Archives(parent.Ref, 1)
	if err != nil {
		return "", err
	}
	head, _, err := strategy.Head(tx, strategy.Input{Session: parent, Now: parent.Updated}, strategy.Covered(archives, parent.Epoch, parent.LastSeq), knownBudget(parent))
	return head, err
}

// RollbackSubagent undoes PrepareSubagent for a child that never ran.
func (e *Engine) RollbackSubagent(ctx context.Context, r skald.SubagentRequest) error {
	_, child, err := e.family(r)
	if err != nil {
		return err
	}
	return e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := tx.Session(child)
		if skald.KindOf(err) == skald.KindNotFound || err == nil && s.LastSeq > 0 {
			return nil // nothing to undo, or the child has already spoken
		}
		if err != nil {
			return err
		}
		s.Parent, s.Head, s.HeadSet = "", "", false
		return tx.PutSession(s)
	})
}

// SubagentEnded links the child's session to the parent's turn, so that it can be expanded, and commits the child.
func (e *Engine) SubagentEnded(ctx context.Context, r skald.SubagentRequest) error {
	parent, child, err := e.family(r)
	if err != nil {
		return err
	}
	err = e.store.View(ctx, func(tx skald.Tx) (err error) {
		if child, err = named(tx, child, r.ChildID, r.ChildKey); err != nil {
			return err
		}
		parent, err = named(tx, parent, r.Session.SessionID, r.Session.SessionKey)
		return err
	})
	if err != nil {
		return err
	}
	if err := e.linkChild(ctx, parent, child); err != nil {
		return err
	}
	_, err = e.commitOpen(ctx, e.now(r.Request), func(s skald.Session) string {
		if s.Ref == child {
			return "subagent"
		}
		return ""
	})
	return err
}

// linkChild links a child that the host did not announce.
func (e *Engine) linkChild(ctx context.Context, parent, child skald.SessionRef) error {
	if parent.ID == "" {
		return nil
	}
	return e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := tx.Session(child)
		if skald.KindOf(err) == skald.KindNotFound || err == nil && s.Parent != "" {
			return nil
		}
		if err != nil {
			return err
		}
		p, err := tx.Session(parent)
		if err != nil && skald.KindOf(err) != skald.KindNotFound {
			return err
		}
		s.Parent = parentTurn(parent, p)
		return tx.PutSession(s)
	})
}

func (e *Engine) family(r skald.SubagentRequest) (parent, child skald.SessionRef, err error) {
	set := e.settings(r.Settings)
	if child, err = e.ref(childRequest(r), set); err != nil {
		return parent, child, skald.Invalid("subagent", "child_session_key", "the child's session key is needed")
	}
	if r.Session.SessionID == "" && r.Session.SessionKey == "" {
		return parent, child, nil
	}
	parent, err = e.ref(r.Request, set)
	return parent, child, err
}

// childRequest is the request as the child would make it.
func childRequest(r skald.SubagentRequest) skald.Request {
	c := r.Request
	c.Session = skald.SessionAddress{SessionID: r.ChildID, SessionKey: r.ChildKey, AgentID: agentOfKey(r.ChildKey)}
	return c
}

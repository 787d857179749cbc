// Package servertest has an engine for tests of transports: it remembers what it was asked and keeps messages in memory. It has
// no idea of context.
package servertest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// Now is the time of everything that a Fake makes.
var Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Fake is a skald.Engine, skald.Inspector and api.Backend. Each tenant's sessions are its own.
type Fake struct {
	Fail  error                // returned by every call, when set
	Panic bool                 // CommitTurn panics
	Reply skald.AssembleResult // of Assemble and DryAssemble

	mu       sync.Mutex
	last     any
	lastID   skald.Identity
	sessions map[string]*session
}

type session struct {
	state   api.Session
	entries []skald.Entry
	live    int // index of the first live entry
}

var (
	_ skald.Engine    = (*Fake)(nil)
	_ skald.Inspector = (*Fake)(nil)
	_ api.Backend     = (*Fake)(nil)
	_ api.Tasks       = (*Fake)(nil)
)

// Last is the last request that the engine got, with its identity.
func (f *Fake) Last() (any, skald.Identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.lastID
}

func (f *Fake) note(id skald.Identity, r any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.lastID = r, id
	return f.Fail
}

func (f *Fake) session(id skald.Identity, name string, create bool) (*session, error) {
	if f.sessions == nil {
		f.sessions = map[string]*session{}
	}
	key := id.Account + "|" + id.User + "|" + name
	s, ok := f.sessions[key]
	if !ok && !create {
		return nil, skald.NotFound("fake.session", name)
	}
	if !ok {
		ref := skald.SessionRef{Scope: skald.Policy{}.UserScope(id), ID: name}
		s = &session{state: api.Session{ID: name, URI: ref.URI(), Created: Now, Updated: Now}}
		f.sessions[key] = s
	}
	return s, nil
}

// Bootstrap implements skald.Engine.
func (f *Fake) Bootstrap(_ context.Context, r skald.BootstrapRequest) (skald.BootstrapResult, error) {
	return skald.BootstrapResult{SessionID: r.Session.SessionID, Epoch: 1, Cursor: json.RawMessage(`{ "at" : "<1>" }`)}, f.note(r.Identity, r)
}

// Reconcile implements skald.Engine.
func (f *Fake) Reconcile(_ context.Context, r skald.ReconcileRequest) (skald.ReconcileResult, error) {
	return skald.ReconcileResult{Imported: len(r.Entries), LastSeq: int64(len(r.Entries))}, f.note(r.Identity, r)
}

func stored(r skald.Request, n int) skald.CommitTurnResult {
	return skald.CommitTurnResult{Status: "committed", SessionID: r.Session.SessionID, From: 1, To: int64(n), Stored: n}
}

// CommitTurn implements skald.Engine.
func (f *Fake) CommitTurn(_ context.Context, r skald.CommitTurnRequest) (skald.CommitTurnResult, error) {
	if f.Panic {
		panic("the engine broke: secret detail")
	}
	return stored(r.Request, len(r.Messages)), f.note(r.Identity, r)
}

// AfterTurn implements skald.Engine.
func (f *Fake) AfterTurn(_ context.Context, r skald.AfterTurnRequest) (skald.CommitTurnResult, error) {
	return stored(r.Request, len(r.Messages)), f.note(r.Identity, r)
}

// Ingest implements skald.Engine.
func (f *Fake) Ingest(_ context.Context, r skald.IngestRequest) (skald.CommitTurnResult, error) {
	return stored(r.Request, len(r.Messages)), f.note(r.Identity, r)
}

// Assemble implements skald.Engine.
func (f *Fake) Assemble(_ context.Context, r skald.AssembleRequest) (skald.AssembleResult, error) {
	return f.Reply, f.note(r.Identity, r)
}

// Compact implements skald.Engine.
func (f *Fake) Compact(_ context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	return skald.CompactResult{OK: true, Compacted: true, TokensBefore: 100, TokensAfter: 40}, f.note(r.Identity, r)
}

// Event implements skald.Engine.
func (f *Fake) Event(_ context.Context, r skald.EventRequest) error { return f.note(r.Identity, r) }

// PrepareSubagent implements skald.Engine.
func (f *Fake) PrepareSubagent(_ context.Context, r skald.SubagentRequest) error {
	return f.note(r.Identity, r)
}

// RollbackSubagent implements skald.Engine.
func (f *Fake) RollbackSubagent(_ context.Context, r skald.SubagentRequest) error {
	return f.note(r.Identity, r)
}

// SubagentEnded implements skald.Engine.
func (f *Fake) SubagentEnded(_ context.Context, r skald.SubagentRequest) error {
	return f.note(r.Identity, r)
}

// Tool implements skald.Engine.
func (f *Fake) Tool(_ context.Context, r skald.ToolRequest) (skald.ToolAnswer, error) {
	return skald.ToolAnswer{Text: r.Tool, Details: json.RawMessage(`{ "a" : "<b>" }`)}, f.note(r.Identity, r)
}

// CreateSession implements api.Backend.
func (f *Fake) CreateSession(_ context.Context, id skald.Identity, n api.NewSession) (api.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.session(id, n.ID, false); err == nil {
		return api.Session{}, &skald.Error{Op: "fake", URI: n.ID, Kind: skald.KindExists}
	}
	s, err := f.session(id, n.ID, true)
	if err != nil {
		return api.Session{}, err
	}
	s.state.AutoCommit, s.state.Memory, s.state.EventTags = n.AutoCommit, n.Memory, n.EventTags
	return s.state, nil
}

// GetSession implements api.Backend.
func (f *Fake) GetSession(_ context.Context, id skald.Identity, name string, create bool) (api.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, create)
	if err != nil {
		return api.Session{}, err
	}
	return s.state, nil
}

// AddMessages implements api.Backend.
func (f *Fake) AddMessages(_ context.Context, id skald.Identity, name string, entries []skald.Entry) (api.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Fail != nil {
		return api.Session{}, f.Fail
	}
	s, err := f.session(id, name, true)
	if err != nil {
		return api.Session{}, err
	}
	s.entries = append(s.entries, entries...)
	s.state.Live, s.state.Total = len(s.entries)-s.live, len(s.entries)
	s.state.PendingTokens = 10 * s.state.Live
	return s.state, nil
}

// ArchiveSession implements api.Backend.
func (f *Fake) ArchiveSession(_ context.Context, id skald.Identity, name string, _ api.CommitOptions) (api.Committed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, false)
	if err != nil {
		return api.Committed{}, err
	}
	if s.state.Live == 0 {
		return api.Committed{Reason: "no_messages"}, nil
	}
	s.live, s.state.Live, s.state.PendingTokens = len(s.entries), 0, 0
	s.state.Commits++
	return api.Committed{Archived: true, Task: "task-1", Archive: s.state.URI.Join("history", skald.ArchiveID(s.state.Commits))}, nil
}

func hostMessages(entries []skald.Entry) []api.HostMessage {
	out := make([]api.HostMessage, len(entries))
	for i, e := range entries {
		out[i] = api.HostMessage{Seq: int64(i + 1), Time: Now, Raw: e.Message}
	}
	return out
}

// SessionContext implements api.Backend.
func (f *Fake) SessionContext(_ context.Context, id skald.Identity, name string, _ int) (api.Context, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, false)
	if err != nil {
		return api.Context{}, err
	}
	return api.Context{Messages: hostMessages(s.entries[s.live:]), Tokens: s.state.PendingTokens}, nil
}

// SessionArchive implements api.Backend.
func (f *Fake) SessionArchive(_ context.Context, id skald.Identity, name string, index int) (api.Archive, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, false)
	if err != nil || index > s.state.Commits {
		return api.Archive{}, skald.NotFound("fake", name)
	}
	return api.Archive{Index: index, Abstract: "short", Overview: "long", Messages: hostMessages(s.entries[:s.live])}, nil
}

// MarkUsed implements api.Backend.
func (f *Fake) MarkUsed(_ context.Context, id skald.Identity, name string, u api.Used) (api.UsedTotals, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, false)
	if err != nil {
		return api.UsedTotals{}, err
	}
	s.state.ContextsUsed += len(u.Contexts)
	if u.Skill != nil {
		s.state.SkillsUsed++
	}
	return api.UsedTotals{Contexts: s.state.ContextsUsed, Skills: s.state.SkillsUsed}, nil
}

// GetTask implements api.Tasks.
func (f *Fake) GetTask(_ context.Context, _ skald.Identity, task string) (api.Task, error) {
	if task != "task-1" {
		return api.Task{}, skald.NotFound("fake.task", task)
	}
	return api.Task{
		ID: task, Type: "session_commit", Status: api.TaskCompleted, Created: Now, Updated: Now, Resource: "s1",
		Result: &api.TaskResult{Session: "s1", Memories: map[string]int{"events": 2}},
	}, nil
}

// ListTasks implements api.Tasks.
func (f *Fake) ListTasks(ctx context.Context, id skald.Identity, _ api.TaskQuery) ([]api.Task, error) {
	t, err := f.GetTask(ctx, id, "task-1")
	return []api.Task{t}, err
}

// CancelTask implements api.Tasks.
func (f *Fake) CancelTask(ctx context.Context, id skald.Identity, task string) (api.Task, error) {
	if t, err := f.GetTask(ctx, id, task); err != nil {
		return t, err
	}
	return api.Task{}, skald.E("fake.cancel", skald.KindConflict, "task %s has ended already", task)
}

var tree = []skald.FileInfo{
	{URI: "viking://user/default/memories/events", Name: "events", Dir: true, Modified: Now, Depth: 1},
	{URI: "viking://user/default/memories/events/a.md", Name: "a.md", Size: 12, Modified: Now, Depth: 2, Abstract: "about <a>"},
	{URI: "viking://user/default/memories/.hidden.md", Name: ".hidden.md", Size: 3, Modified: Now, Depth: 1},
}

// Status implements skald.Inspector.
func (f *Fake) Status(_ context.Context, id skald.Identity) (skald.Status, error) {
	return skald.Status{
		Version: "test", Protocol: skald.ProtocolVersion, Started: Now, Store: skald.StoreHealth{Engine: "fake", Writing: true},
	}, f.note(id, "status")
}

// ListSessions implements skald.Inspector.
func (f *Fake) ListSessions(_ context.Context, id skald.Identity, _ int) ([]skald.SessionInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []skald.SessionInfo
	for key, s := range f.sessions {
		if strings.HasPrefix(key, id.Account+"|"+id.User+"|") {
			list = append(list, skald.SessionInfo{ID: s.state.ID, URI: s.state.URI, Agent: id.Agent, Created: Now, Updated: Now})
		}
	}
	slices.SortFunc(list, func(a, b skald.SessionInfo) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// ListTurns implements skald.Inspector.
func (f *Fake) ListTurns(_ context.Context, id skald.Identity, name string, from, to int64) ([]skald.TurnInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, false)
	if err != nil {
		return nil, err
	}
	var list []skald.TurnInfo
	for i, e := range s.entries {
		if seq := int64(i + 1); seq >= from && (to == 0 || seq <= to) {
			list = append(list, skald.TurnInfo{
				Envelope: skald.TurnEnvelope{TurnID: "t" + strconv.Itoa(i+1), SessionID: name, Sequence: seq}, Raw: e.Message,
			})
		}
	}
	return list, nil
}

// Explain implements skald.Inspector.
func (f *Fake) Explain(_ context.Context, id skald.Identity, name string, seq int64) (skald.Explanation, error) {
	return skald.Explanation{
		Session: name, AfterSeq: seq, Time: Now, Packet: skald.AssembledContextPacket{InjectedMessages: f.Reply.Messages},
	}, f.note(id, "explain")
}

// Expand implements skald.Inspector.
func (f *Fake) Expand(_ context.Context, id skald.Identity, uri, query string, limit int) (skald.Expansion, error) {
	return skald.Expansion{URI: skald.URI(uri), Total: limit}, f.note(id, query)
}

// Find implements skald.Inspector. It finds one thing of each kind, whatever the limit.
func (f *Fake) Find(_ context.Context, id skald.Identity, q skald.FindQuery) (skald.FindResult, error) {
	hits := []skald.RecallCandidate{
		{URI: "viking://user/default/sessions/s1/turns/3", Kind: skald.DocTurn, Text: "said <so>", Score: 0.4, Time: Now},
		{URI: "viking://user/default/memories/events/a.md", Kind: skald.DocMemory, Text: "about a", Score: 0.9, Time: Now},
	}
	return skald.FindResult{Hits: hits}, f.note(id, q)
}

// List implements skald.Inspector.
func (f *Fake) List(_ context.Context, id skald.Identity, raw string, depth int) ([]skald.FileInfo, error) {
	uri, err := skald.ParseURI(raw, id, skald.Policy{})
	if err != nil {
		return nil, err
	}
	var list []skald.FileInfo
	for _, e := range tree {
		if e.Depth <= depth && strings.HasPrefix(string(e.URI), string(uri)+"/") {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil, skald.NotFound("fake.list", string(uri))
	}
	return list, nil
}

// Read implements skald.Inspector.
func (f *Fake) Read(ctx context.Context, id skald.Identity, raw string) (string, error) {
	_, b, err := Files{}.Read(ctx, id, raw, true)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// Verify implements skald.Inspector.
func (f *Fake) Verify(_ context.Context, id skald.Identity, session string) (skald.VerifyResult, error) {
	return skald.VerifyResult{OK: true}, f.note(id, session)
}

// Commit implements skald.Inspector.
func (f *Fake) Commit(_ context.Context, id skald.Identity, session string, wait bool) (skald.CommitResult, error) {
	return skald.CommitResult{SessionID: session, Archived: wait}, f.note(id, "commit")
}

// ListJobs implements skald.Inspector.
func (f *Fake) ListJobs(_ context.Context, id skald.Identity, all bool) ([]skald.JobInfo, error) {
	return nil, f.note(id, "jobs "+strconv.FormatBool(all))
}

// RetryJob implements skald.Inspector.
func (f *Fake) RetryJob(_ context.Context, id skald.Identity, job int64) (skald.JobInfo, error) {
	return skald.JobInfo{ID: job, State: "waiting"}, f.note(id, "retry")
}

// CancelJob implements skald.Inspector.
func (f *Fake) CancelJob(_ context.Context, id skald.Identity, job int64) (skald.JobInfo, error) {
	return skald.JobInfo{ID: job, State: "cancelled"}, f.note(id, "cancel")
}

// ForgetSource implements skald.Inspector.
func (f *Fake) ForgetSource(_ context.Context, id skald.Identity, r skald.ForgetRequest) (skald.ForgetReceipt, error) {
	return skald.ForgetReceipt{URI: skald.URI(r.What), DryRun: r.DryRun, Purged: r.Purge}, f.note(id, "forget")
}

// DeleteSession implements skald.Inspector.
func (f *Fake) DeleteSession(_ context.Context, id skald.Identity, name string) (skald.SessionDeletion, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.session(id, name, false)
	if err != nil {
		return skald.SessionDeletion{}, err
	}
	delete(f.sessions, id.Account+"|"+id.User+"|"+name)
	return skald.SessionDeletion{Session: name, URI: s.state.URI, Deleted: Now, Turns: int64(len(s.entries))}, nil
}

// DryAssemble implements skald.Inspector.
func (f *Fake) DryAssemble(_ context.Context, id skald.Identity, session, prompt string, budget int) (skald.AssembleResult, error) {
	return f.Reply, f.note(id, session+"|"+prompt+"|"+strconv.Itoa(budget))
}

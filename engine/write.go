package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
)

// The write path, shared by commitTurn, afterTurn, ingest and reconcile: convert, deduplicate, append with the lexical rows in one
// transaction, acknowledge, evaluate the triggers (000-031 to 000-033).

// channel is the call by which a message arrived. Two deliveries of one message come by different channels; two equal messages by
// one channel are genuine repeats (I2).
type channel string

const (
	byCommit    channel = "commit"
	byAfterTurn channel = "after"
	byCursor    channel = "cursor"
	byView      channel = "view"
	byClient    channel = "client"
)

// incoming is one delivered message on its way into the store.
type incoming struct {
	raw      []byte
	msg      *message.Message // nil when raw is no JSON object: stored verbatim all the same
	matchKey string
	entryID  string
	position int64 // -1 unknown

	afterReset bool // the host was reset just before it

	ahead *analysis // works its passages out, when it came with many others
	at    int       // its place there
}

// delivery is what one call brings.
type delivery struct {
	by        channel
	messages  []incoming
	key       string // advancement or client key; "" none
	turnID    string
	heartbeat bool
	print     string // fingerprint of the whole call, for channels without keys: an exact repetition stores nothing
	reset     bool   // the host's transcript was written anew: its entry ids may have changed
	sender    string // who wrote the user's messages, where the host tells (peer_role person)
	named     bool   // every message has an id of its own that says all: equal contents are different messages
	lifecycle string // the host's revision, where it shows one
	budget    int    // tokens, as the host showed it in the turn; 0 unknown
	now       time.Time
}

// defaultMaxMessage is the most that one message may have, in bytes. More can never be stored: it becomes a dead letter.
const defaultMaxMessage = 256 << 20

func convert(raw []byte) incoming {
	m, key := message.ParseKey(raw)
	return incoming{raw: raw, msg: m, matchKey: key, position: -1}
}

func convertAll(raws []json.RawMessage) []incoming {
	list := make([]incoming, len(raws))
	parallel(len(raws), func(i int) { list[i] = convert(raws[i]) })
	return list
}

// write stores a delivery durably and evaluates the triggers. It is one transaction.
func (e *Engine) write(ctx context.Context, r skald.Request, set settings, d delivery) (skald.CommitTurnResult, error) {
	ref, err := e.ref(r, set)
	if err != nil {
		return skald.CommitTurnResult{}, err
	}
	d.sender = clean(r.Session.SenderID)
	var result skald.CommitTurnResult
	due := false
	err = e.store.Update(ctx, func(tx skald.Tx) (err error) {
		result, due, err = e.writeIn(tx, ref, r, set, d)
		return err
	})
	if err != nil {
		e.note("write", ref.ID, err)
		return skald.CommitTurnResult{}, err
	}
	e.bypasses.end(ref)
	e.opts.Metrics.Count("turns_stored", result.Stored)
	if due {
		e.evaluate(ctx, ref, set, d.now)
	}
	return result, nil
}

// evaluate commits when a trigger has hit. It comes after the write and never affects it: what fails here is tried again at the next
// write or sweep (000-033).
func (e *Engine) evaluate(ctx context.Context, ref skald.SessionRef, set settings, now time.Time) {
	closed, err := e.commitOne(ctx, ref, now, func(s skald.Session) string { return trigger(s, set, now) })
	e.note("commit", ref.ID, err)
	if closed {
		e.Committed()
	}
}

// writeIn stores a delivery and reports whether a trigger is due.
func (e *Engine) writeIn(tx skald.Tx, ref skald.SessionRef, r skald.Request, set settings, d delivery) (skald.CommitTurnResult, bool, error) {
	result := skald.CommitTurnResult{Status: "committed", SessionID: ref.ID}
	s, err := open(tx, ref, r, d.now)
	if err != nil {
		return result, false, err
	}
	if known, ok, err := seen(tx, ref, d); err != nil || ok {
		result.Status, result.From, result.To = "duplicate", known.StartSequence, known.EndSequence
		return result, false, err
	}
	got, err := e.append(tx, &s, d)
	if err != nil {
		return result, false, err
	}
	result.Stored, result.From, result.To = len(got.stored), got.span.StartSequence, got.span.EndSequence
	switch {
	case got.dead > 0:
		result.Reason = "dead_letter"
	case len(got.stored) == 0 && len(d.messages) > 0:
		result.Status = "duplicate"
	}
	if err := remember(tx, ref, d, got.span); err != nil {
		return result, false, err
	}
	s.Updated, s.LastCommitTurn = d.now, d.now
	if s.Budget == 0 {
		s.Budget = d.budget
	}
	return result, trigger(s, set, d.now) != "", tx.PutSession(s)
}

// keys are what a repetition of the delivery is recognised by.
func (d delivery) keys() (keys []string) {
	for _, k := range []string{d.key, d.print} {
		if k != "" {
			keys = append(keys, k)
		}
	}
	return keys
}

// seen looks the delivery's keys up: the host repeats what it did not see acknowledged.
func seen(tx skald.Tx, ref skald.SessionRef, d delivery) (skald.TurnRange, bool, error) {
	for _, k := range d.keys() {
		if known, ok, err := tx.TurnKey(ref, k); err != nil || ok {
			return known, ok, err
		}
	}
	return skald.TurnRange{}, false, nil
}

func remember(tx skald.Tx, ref skald.SessionRef, d delivery, span skald.TurnRange) error {
	for _, k := range d.keys() {
		if err := tx.PutTurnKey(ref, k, span); err != nil {
			return err
		}
	}
	return nil
}

// appended is what became of a delivery.
type appended struct {
	stored []skald.Turn
	span   skald.TurnRange // of the turns stored and of those known already
	dead   int             // messages that can never be stored
}

// append stores those messages of d that are not stored yet, and completes what is known about the others.
func (e *Engine) append(tx skald.Tx, s *skald.Session, d delivery) (out appended, err error) {
	if d.messages, out.dead, err = e.keepAside(tx, s.Ref, d); err != nil {
		return out, err
	}
	found, err := e.deduplicate(tx, s, d)
	if err != nil {
		return out, err
	}
	out.span = found.known
	if out.stored, err = e.appendAll(tx, s, d, exchanges(analysed(found.fresh), d.by)); err != nil {
		return out, err
	}
	for _, t := range out.stored {
		found.extend(t.Seq)
	}
	out.span = found.known
	return out, markChannel(tx, s.Ref, d.by, out.stored)
}

// appendAll stores exchanges one after the other.
func (e *Engine) appendAll(tx skald.Tx, s *skald.Session, d delivery, list [][]incoming) (stored []skald.Turn, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	previous, seq, err := tx.LastLink(s.Ref)
	if err != nil {
		return nil, err
	}
	w := tail{link: previous, seq: seq}
	if w.turnID, err = exchangeID(tx, s, d); err != nil {
		return nil, err
	}
	for _, exchange := range list {
		if exchange[0].afterReset && s.LastSeq >= s.EpochFrom { // a reset that no assemble has shown
			if err := w.flush(tx, s.Ref); err != nil {
				return nil, err
			}
			if err := startEpoch(tx, s, first(d.lifecycle, s.Lifecycle), d.now); err != nil {
				return nil, err
			}
		}
		stored = append(stored, e.extend(s, d, exchange, &w)...)
		w.turnID = ownID(s, d)
	}
	return stored, w.flush(tx, s.Ref)
}

// tail is where the next turn of a session goes, and what is on its way there.
type tail struct {
	link   []byte // of the turn before
	seq    int64  // of the turn before; 0 none
	turnID string // of the next exchange

	turns []skald.Turn
	docs  []skald.Doc
}

// flush writes what was gathered: many turns at once cost less than one exchange after the other.
func (w *tail) flush(tx skald.Tx, ref skald.SessionRef) error {
	if err := tx.AppendTurns(ref, w.turns); err != nil {
		return err
	}
	err := tx.PutDocs(w.docs)
	w.turns, w.docs = nil, nil
	return err
}

// exchanges cuts what a channel delivers in bulk before each user message that follows another role's, so that every exchange gets
// its own purpose and id. commitTurn delivers one exchange by contract.
func exchanges(list []incoming, by channel) [][]incoming {
	var out [][]incoming
	user := false
	for _, in := range list {
		isUser := in.msg != nil && in.msg.SkaldRole() == skald.RoleUser
		if len(out) == 0 || by != byCommit && isUser && !user || in.afterReset {
			out = append(out, nil)
		}
		user = isUser
		out[len(out)-1] = append(out[len(out)-1], in)
	}
	return out
}

// extend adds an exchange to the tail and counts it.
func (e *Engine) extend(s *skald.Session, d delivery, fresh []incoming, w *tail) []skald.Turn {
	purpose := purposeOf(*s, d, fresh)
	epoch := enterEpoch(s, fresh)
	from := len(w.turns)
	for _, in := range fresh {
		w.seq++
		t := e.makeTurn(*s, in, w.seq, purpose, d)
		t.Epoch, t.TurnID = epoch, w.turnID
		seal(&t, w.link, d.by)
		w.link = t.Link
		w.turns = append(w.turns, t)
		w.docs = append(w.docs, docsOf(s.Ref, t, in)...)
		count(s, t, purpose)
	}
	s.LastSeq = w.seq
	s.ReportedInput = reportedInput(fresh, s.ReportedInput)
	return w.turns[from:]
}

func docsOf(ref skald.SessionRef, t skald.Turn, in incoming) []skald.Doc {
	if in.msg == nil {
		return nil
	}
	return index.DocsOfPassages(ref, t, in.msg, in.passages())
}

func seal(t *skald.Turn, previous []byte, by channel) {
	t.Salt = newSalt()
	t.Leaf = leaf(t.Salt, t.Raw)
	if by == byView {
		t.Leaf = viewLeaf(t.MatchKey)
	}
	t.Link = link(previous, t.Seq, t.Leaf)
}

func (e *Engine) makeTurn(s skald.Session, in incoming, seq int64, purpose skald.Purpose, d delivery) skald.Turn {
	t := skald.Turn{
		Seq: seq, Time: d.now, Role: skald.RoleSystem, Raw: in.raw, Tokens: message.Tokens(in.raw),
		Origin: skald.OriginSystem, Audience: s.Audience, Purpose: purpose,
		EntryID: in.entryID, Position: in.position, MatchKey: in.matchKey, AdvancementKey: d.key,
	}
	if d.by == byView {
		t.Source = skald.SourceView
	}
	if in.msg == nil {
		return t
	}
	t.Role, t.Speaker = in.msg.SkaldRole(), in.msg.Sender
	if t.Role == skald.RoleUser && t.Speaker == "" {
		t.Speaker = d.sender
	}
	if !in.msg.Timestamp.IsZero() {
		t.Time = in.msg.Timestamp.UTC()
	}
	t.Origin = originOf(s, in.msg, purpose)
	if purpose == skald.PurposeHeartbeat && t.Role == skald.RoleAssistant && speaks(in.msg) {
		t.Purpose = skald.PurposeTalk // the reply has content of its own: it can be found (CAP-11)
	}
	return t
}

// speaks reports a heartbeat reply that says more than that all is well.
func speaks(m *message.Message) bool {
	text := strings.TrimSpace(m.Text())
	return text != "" && text != "HEARTBEAT_OK" && len(m.ToolCalls()) == 0
}

func originOf(s skald.Session, m *message.Message, purpose skald.Purpose) skald.Origin {
	switch m.SkaldRole() {
	case skald.RoleAssistant:
		return skald.OriginAgent
	case skald.RoleTool:
		return skald.OriginTool
	case skald.RoleSystem:
		return skald.OriginSystem
	}
	switch {
	case purpose != skald.PurposeTalk:
		return skald.OriginSystem
	case m.SenderIsOwner != nil && *m.SenderIsOwner:
		return skald.OriginOwner
	case m.SenderIsOwner != nil || isGroup(s.Audience) || s.Audience == skald.AudienceSubagent:
		return skald.OriginPerson // a missing sender is not credited to a default person (IDN-06)
	}
	return skald.OriginOwner
}

// purposeOf decides for the exchange as a whole.
func purposeOf(s skald.Session, d delivery, fresh []incoming) skald.Purpose {
	switch {
	case internalKey(s.Key):
		return skald.PurposeInternal
	case s.Audience == skald.AudienceCron:
		return skald.PurposeCron
	case d.heartbeat:
		return skald.PurposeHeartbeat
	}
	for _, in := range fresh {
		if in.msg != nil && in.msg.SkaldRole() == skald.RoleUser {
			if message.Heartbeat(in.msg.Text()) {
				return skald.PurposeHeartbeat
			}
			break
		}
	}
	return skald.PurposeTalk
}

// enterEpoch says to which epoch an exchange belongs. A late delivery goes to the epoch before, by its position: the host's positions
// grow across resets. The first one of the epoch itself says where that epoch begins.
func enterEpoch(s *skald.Session, fresh []incoming) int {
	position, next := fresh[0].position, s.LastSeq+1
	if s.Epoch > 1 && position >= 0 && position < s.EpochPosition {
		if next == s.EpochFrom {
			s.EpochFrom += int64(len(fresh))
			s.Published = s.EpochFrom - 1
		}
		return s.Epoch - 1
	}
	if next == s.EpochFrom && position > s.EpochPosition {
		s.EpochPosition = position
	}
	return s.Epoch
}

// exchangeID links the turns to the packet that was assembled for them: the recall or trace placed after the last stored turn.
func exchangeID(tx skald.Tx, s *skald.Session, d delivery) (string, error) {
	if d.turnID != "" {
		return d.turnID, nil
	}
	placed, err := tx.Recalls(s.Ref, s.LastSeq)
	if err != nil {
		return "", err
	}
	for _, p := range placed {
		if p.AfterSeq == s.LastSeq && p.TurnID != "" {
			return p.TurnID, nil
		}
	}
	return ownID(s, d), nil
}

// ownID is the id of the next exchange when no packet was assembled for it.
func ownID(s *skald.Session, d delivery) string {
	if id := first(d.turnID, d.key); id != "" {
		return id
	}
	return s.Ref.ID + "-" + strconv.FormatInt(s.LastSeq+1, 10)
}

// reportedInput is what the provider last counted for a request and its answer: the next request holds both.
func reportedInput(fresh []incoming, before int) int {
	for i := len(fresh) - 1; i >= 0; i-- {
		m := fresh[i].msg
		if m == nil || m.SkaldRole() != skald.RoleAssistant {
			continue
		}
		if n := m.Usage.Input + m.Usage.CacheRead + m.Usage.CacheWrite; n > 0 {
			return n + m.Usage.Output
		}
	}
	return before
}

// keepAside takes out of d what can never be stored: it becomes a dead letter, acknowledged and shown by doctor. A refusal would be
// repeated by the host for ever.
func (e *Engine) keepAside(tx skald.Tx, ref skald.SessionRef, d delivery) (rest []incoming, dead int, err error) {
	for _, in := range d.messages {
		if len(in.raw) <= e.opts.MaxMessage {
			rest = append(rest, in)
			continue
		}
		dead++
		err := tx.PutDeadLetter(skald.DeadLetter{Session: ref, Time: d.now, Bytes: int64(len(in.raw)), Head: in.raw[:min(len(in.raw), 4096)],
			Reason: "a message of " + strconv.Itoa(len(in.raw)) + " bytes; the most is " + strconv.Itoa(e.opts.MaxMessage)})
		if err != nil {
			return nil, dead, err
		}
	}
	return rest, dead, nil
}

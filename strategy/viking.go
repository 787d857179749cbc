package strategy

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// Viking is the default strategy, document 000: one first message with profile and published summaries, the raw turns since with
// earlier recalls where they stood, and the recall for the prompt.
type Viking struct{}

// Name implements Strategy.
func (Viking) Name() string { return Default }

// MinBudget is the smallest budget, in tokens, that a context is assembled for.
const MinBudget = 200

// smallBudget is the budget, in tokens, below which a call's own frame may cost more than what it brings.
const smallBudget = 16_000

// headShare is the share of the budget that the first message may take (design, "assemble"); recalls: recallShare.
const headShare = 0.15

// Assemble implements Strategy: head, raw turns, recall, fit.
func (Viking) Assemble(ctx context.Context, tx skald.Tx, in Input) (Output, error) {
	return assemble(ctx, tx, in, way{})
}

// way is how a strategy differs in what it shows beside the first message. The zero value shows all that fits and looks for everything.
type way struct {
	thin   func(list []exchange, over int) []exchange // leaves out exchanges where the view is over tokens too long
	narrow func(*recall.Request)                      // says what is looked for
}

// assemble is the course of every strategy that keeps recalls where they stood.
func assemble(ctx context.Context, tx skald.Tx, in Input, by way) (Output, error) {
	if in.Budget < MinBudget {
		return Output{}, tooSmall(in)
	}
	list, whole, err := view(tx, in, in.Budget)
	if err != nil {
		return Output{}, err
	}
	head := headMessages(in.Session.Head)
	placed, err := tx.Recalls(in.Session.Ref, in.Session.Published)
	if err != nil {
		return Output{}, err
	}
	earlier, own := standing(placed, in)
	if over := tokensOfHead(in.Session.Head) + tokensOf(list) - in.Budget; by.thin != nil && over > 0 {
		list = by.thin(list, over)
	}
	f := fit(fitInput{head: head, list: list, recalls: earlier, budget: in.Budget, keep: in.Settings.RecentTurns, uri: in.Session.Ref})
	if !whole {
		f.note("older turns were left out: over the budget")
	}
	out := outputOf(f)
	current, err := chooseRecall(ctx, tx, in, f, own, by.narrow, &out)
	if err != nil {
		return Output{}, err
	}
	var recalled []message.Ready
	if current != nil {
		recalled = prepared(current.Messages)
	}
	out.Messages, out.Tokens = render(f, recalled)
	return out, nil
}

// standing sorts the placed recalls: those of earlier prompts, and the one that this turn already made (a second assemble of the
// same turn).
func standing(placed []skald.PlacedRecall, in Input) (earlier []skald.PlacedRecall, own *skald.PlacedRecall) {
	for _, p := range placed {
		switch {
		case p.AfterSeq < in.Session.LastSeq:
			if len(p.Messages) > 0 {
				earlier = append(earlier, p)
			}
		case in.TurnID != "" && p.TurnID == in.TurnID:
			own = &p
		}
	}
	return earlier, own
}

// headMessages are the first message and its acknowledgement, so that roles alternate.
func headMessages(head string) []json.RawMessage {
	if head == "" {
		return nil
	}
	return []json.RawMessage{json.RawMessage(head), message.Assistant(ackLine, 1)}
}

// Head builds the first message: profile and stable preferences, then what was published; with its acknowledgement at most 15 % of
// the budget. "" when there is nothing to say, or no room.
func Head(tx skald.Tx, in Input, published []skald.Archive, budget int) (serialised, text string, err error) {
	return headOf(tx, in, budget, func(room int) string {
		if len(published) == 0 {
			return ""
		}
		call := func(uri skald.URI) string { return ExpandCall(uri, in.Search) }
		summary, _ := archive.HeadWith(in.Session.Ref.URI(), in.Session.Epoch, published, room, call)
		return summary
	})
}

// headOf builds the first message around a summary that takes at most the room, in tokens, that it is told.
func headOf(tx skald.Tx, in Input, budget int, summary func(room int) string) (serialised, text string, err error) {
	share := int(headShare * float64(budget))
	for room, try := share-headFrame, 0; room >= leastHead && try < 4; try++ {
		if text, err = headText(tx, in, room, summary); err != nil || text == "" {
			return "", "", err
		}
		serialised = string(message.User(text, in.Now.UnixMilli()))
		over := tokensOfHead(serialised) - share
		if over <= 0 {
			return serialised, text, nil
		}
		room -= over + over/4 + 8
	}
	return "", "", nil
}

// profilePart: the profile takes at most this part of what a recall may take. It stands in every request, whatever is asked.
const profilePart = 16

// leastHead is the least room, in tokens, that is worth a first message.
const leastHead = 40

// headFrame is what the first message and its acknowledgement take around the text.
var headFrame = tokensOfHead(string(message.User("", 1_700_000_000_000)))

func headText(tx skald.Tx, in Input, room int, summary func(room int) string) (string, error) {
	most := min(room/3, in.Settings.RecallTokens/profilePart)
	profile, err := memory.ProfileFor(tx, in.Session.Ref.Scope, in.Session.Audience, most) // a group sees its own only (I9)
	if err != nil {
		return "", err
	}
	return joinHead(profile, summary(room-message.TextTokens(profile)-message.TextTokens(profileTitle)-4)), nil
}

// joinHead begins with the mark in any case: what the engine made is never captured (I10).
func joinHead(profile, summary string) string {
	switch {
	case profile == "" && summary == "":
		return ""
	case profile == "":
		return message.Mark + summary
	case summary == "":
		return profileTitle + profile
	}
	return profileTitle + profile + "\n\n" + summary
}

const profileTitle = message.Mark + "Notes about me from earlier conversations; what I say later stands over them.\n"

// chooseRecall makes the recall for the prompt, or repeats the one that this turn made already.
func chooseRecall(ctx context.Context, tx skald.Tx, in Input, f fitted, own *skald.PlacedRecall, narrow func(*recall.Request), out *Output) (*skald.PlacedRecall, error) {
	left := in.Budget - f.tokens
	if own != nil {
		out.Trace = skald.RecallTrace{Query: in.Prompt, Skipped: "made already for this turn", Tokens: own.Tokens}
		if len(own.Messages) == 0 {
			return nil, nil
		}
		if own.Tokens > left {
			out.Cut = append(out.Cut, "the recall was left out")
			return nil, nil
		}
		return own, nil
	}
	kind := form(in)
	frame := frameTokens(kind, in)
	room := recallRoom(in, f.recallTokens, left, frame)
	if kind == FormTool && in.Settings.Form != FormTool && in.Budget < smallBudget && room.tokens < frame+clearItems {
		kind, frame = FormText, frameTokens(FormText, in) // text says the same in fewer tokens
		room = recallRoom(in, f.recallTokens, left, frame)
	}
	out.Trace = skald.RecallTrace{Query: in.Prompt, Skipped: skipRecall(in, room.tokens-frame)}
	if out.Trace.Skipped != "" {
		return nil, nil
	}
	shown := shownURIs(f.recalls)
	wanted := recall.Request{
		Query: in.Prompt, Window: userTexts(f.list, in.Settings.Window-1), Scopes: in.Scopes, Agent: in.Session.Agent,
		Session: in.Session.Ref, Audience: in.Session.Audience, Owner: in.Session.Audience == skald.AudienceDirect,
		Visible: func(d skald.Doc) bool { return visible(tx, d, in, out) || shown[docURI(d)] },
		Budget:  room.tokens - frame, Limit: in.Settings.Limit, Threshold: room.threshold, Cover: room.cover,
		MaxChars: in.Settings.MaxChars, PreferAbstract: in.Settings.PreferAbstract, Now: in.Now, Deadline: in.Deadline,
		Admit: in.Admit,
	}
	if narrow != nil {
		narrow(&wanted)
	}
	result, err := recall.Recall(ctx, tx, wanted)
	out.Missed = err != nil && ctx.Err() == nil && skald.KindOf(err) == skald.KindDeadline
	if out.Missed {
		out.Trace.Skipped = "the search took too long"
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out.Trace = result.Trace
	if len(result.Items) == 0 {
		return nil, nil
	}
	out.Trace.Form = kind
	messages, err := recallMessages(kind, result.Trace.Query, in.TurnID, in.Search, result.Items, in.Now)
	if err != nil {
		return nil, err
	}
	p := &skald.PlacedRecall{AfterSeq: in.Session.LastSeq, TurnID: in.TurnID, Time: in.Now, Messages: messages}
	for _, m := range messages {
		p.Tokens += message.Tokens(m)
	}
	for _, item := range result.Items {
		p.URIs = append(p.URIs, string(item.URI))
	}
	if p.Tokens > left {
		out.Trace.Skipped = "no room left in the budget"
		return nil, nil
	}
	out.Recall = p
	return p, nil
}

// WantsRecall reports whether a search is made for the prompt, if there is room.
func WantsRecall(in Input) bool { return unwanted(in) == "" }

func unwanted(in Input) string {
	switch {
	case in.NoRecall != "":
		return in.NoRecall
	case !in.Settings.AutoRecall:
		return "autoRecall is off"
	case !in.Talk:
		return "not a person's prompt"
	case recall.Trivial(in.Prompt):
		return "a trivial prompt"
	}
	return ""
}

func skipRecall(in Input, rest int) string {
	why := unwanted(in)
	switch {
	case why != "":
		return why
	case rest < leastRecall:
		return fmt.Sprintf("no room: %d tokens are left for recalls until the next publication", max(0, rest))
	}
	return ""
}

// visible reports that what a document was made of stands raw in the view already: the turn itself, a memory of it, an archive of it.
func visible(tx skald.Tx, d skald.Doc, in Input, out *Output) bool {
	if d.Session != in.Session.Ref.ID || out.RawFrom == 0 {
		return false
	}
	switch d.Kind {
	case skald.DocTurn:
		return d.Scope == in.Session.Ref.Scope && d.Seq >= out.RawFrom && d.Seq <= out.RawTo
	case skald.DocMemory:
		return d.Seq >= out.RawFrom && d.Seq <= out.RawTo
	case skald.DocArchive:
		a, err := tx.Archive(in.Session.Ref, int(d.Seq))
		return err == nil && a.From >= out.RawFrom && a.To <= out.RawTo
	}
	return false
}

func docURI(d skald.Doc) string {
	if d.URI != "" {
		return string(d.URI)
	}
	ref := skald.SessionRef{Scope: d.Scope, ID: d.Session}
	if d.Kind == skald.DocTurn {
		return string(ref.TurnsURI(d.Seq, d.Seq))
	}
	return string(ref.ArchiveURI(int(d.Seq)))
}

func shownURIs(placed []standingRecall) map[string]bool {
	shown := map[string]bool{}
	for _, p := range placed {
		for _, uri := range p.URIs {
			shown[uri] = true
		}
	}
	return shown
}

// Package chat answers the commands that a person types into a chat: /skald status, why, forget, compact. Every host's adapter passes the
// line on and shows the text.
package chat

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

const help = `/skald status - what is stored, and whether Skald served the last answer
/skald why - what the model was shown for it, why, and what it cost
/skald forget TEXT or URI - take a memory out of recall; shows what is meant first
/skald compact - archive now and show the model less`

// Commands answers commands. Engine and Inspector are required.
type Commands struct {
	Engine    skald.Engine
	Inspector skald.Inspector

	mu     sync.Mutex
	listed map[place][]skald.RecallCandidate // what "forget 2" means, by session
}

// place is where a list was shown.
type place struct {
	id      skald.Identity
	session string
}

// call is one command on its way.
type call struct {
	*Commands
	wire.CommandRequest
	place
	word string // the command
	rest string // what stands after it
}

// Run answers one line. What the person did wrong comes back as text; an error is a fault of the engine.
func (c *Commands) Run(ctx context.Context, r wire.CommandRequest) (wire.CommandAnswer, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(r.Line), " ")
	session := skald.SessionID(r.Session.SessionID, r.Session.SessionKey)
	x := &call{Commands: c, CommandRequest: r, place: place{r.Identity, session}, word: strings.ToLower(word), rest: strings.TrimSpace(rest)}
	run, ok := commands[x.word]
	if !ok {
		return x.help()
	}
	if session == "" {
		return wire.CommandAnswer{}, skald.Invalid("command", "session.session_id", "a session id or key is needed")
	}
	answer, err := run(ctx, x)
	switch skald.KindOf(err) {
	case "":
		return answer, nil
	case skald.KindInvalid, skald.KindNotFound, skald.KindPermission, skald.KindConflict, skald.KindUnsupported:
		return wire.CommandAnswer{Text: err.Error(), IsError: true}, nil
	}
	return answer, err
}

var commands = map[string]func(context.Context, *call) (wire.CommandAnswer, error){
	"status":  status,
	"why":     why,
	"forget":  forget,
	"compact": compact,
}

func (x *call) help() (wire.CommandAnswer, error) {
	if x.word == "" || x.word == "help" {
		return wire.CommandAnswer{Text: help}, nil
	}
	return wire.CommandAnswer{Text: "There is no /skald " + clip(x.word, 40) + ".\n" + help, IsError: true}, nil
}

// reply is an answer with what it was made of.
func reply(t *text, details any) (wire.CommandAnswer, error) {
	raw, err := json.Marshal(details)
	if err != nil {
		return wire.CommandAnswer{}, skald.E("command", skald.KindInternal, "the details cannot be encoded: %w", err)
	}
	return wire.CommandAnswer{Text: t.String(), Details: raw}, nil
}

// Agentloop is a small agent in Go whose context engine is chosen by one flag. Its model is scripted, so it needs no key:
//
//	go run ./examples/agentloop -engine viking
//	go run ./examples/agentloop -engine legacy
//	go run ./examples/agentloop -engine pinned
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/examples/pinned"
	"github.com/skald-engine/skald/slot"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/strategy"
)

func main() {
	id := flag.String("engine", "", "the context engine; \"\" is legacy")
	budget := flag.Int("budget", 3000, "tokens of a request")
	flag.Parse()
	if err := register(); err != nil {
		log.Fatal(err)
	}
	if err := talk(context.Background(), *id, *budget, func(who, text string) { fmt.Printf("%s: %s\n", who, text) }); err != nil {
		log.Fatal(err)
	}
}

// register offers Skald's strategies, each as an engine of its own, and one that this program wrote itself.
func register() error {
	for _, name := range strategy.Names() {
		if name == slot.Legacy {
			continue // the slot has one, which needs no store
		}
		if err := slot.Register(name, func(host slot.Host) (slot.Engine, error) { return embed(name, host) }); err != nil {
			return err
		}
	}
	return pinned.Register()
}

// embed runs Skald in this process; a store in a file would be sqlite.Open, and a daemon's engine client.New.
func embed(name string, host slot.Host) (slot.Engine, error) {
	e, err := engine.New(memory.New(), engine.Options{Strategy: name, Clock: host.Clock, Log: host.Log, Recall: host.Deadline})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); e.Run(ctx, 1, time.Minute) }() // summaries and memories
	return slot.Of(slot.Info{ID: name, Name: "Skald", OwnsCompaction: true}, e, func() error { stop(); <-done; return nil }), nil
}

// talk has a long talk with the agent, in which one thing is said early and asked for late.
func talk(ctx context.Context, id string, budget int, print func(who, text string)) error {
	s, err := slot.Select(id, slot.Host{Budget: budget, Deadline: time.Minute, Compact: func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{OK: true, Reason: "this agent keeps its list"}, nil
	}})
	if err != nil {
		return err
	}
	a := &agent{slot: s, model: script, request: skald.Request{Session: skald.SessionAddress{SessionKey: "agent:main:main"}}, budget: budget}
	prompts := []string{"The door code is 4711. #pin"}
	for i := range 20 {
		prompts = append(prompts, fmt.Sprintf("What is in room %d?", 100+i))
	}
	for _, p := range append(prompts, "Tell me, what is the door code?") {
		print("user", p)
		print("agent", a.turn(ctx, p))
	}
	st := s.Status()
	print("slot", fmt.Sprintf("engine %s is %s, %d faults, %d calls on legacy, largest request %d of %d tokens", st.Engine, st.State, len(st.Faults), st.Legacy,
		a.largest, budget))
	return s.Dispose()
}

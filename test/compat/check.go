// Package compat says which versions of OpenClaw Skald works with: it runs the same short checks on each and writes what it saw.
package compat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/test/world"
)

// check is one thing that a user relies on. It returns what is wrong, judged by what the model endpoint received and the store holds,
// never by a reply: a host falls back to its own messages in silence.
type check struct {
	Name string
	What string // for the page
	run  func(context.Context, *world.World) error
}

var checks = []check{
	{"load", "the plugin loads, and the host says that its engine fills the slot", load},
	{"capture", "every message of an exchange is stored byte for byte, by commitTurn", capture},
	{"assembly", "a fact of one session reaches the model in another, as a recall", assembly},
	{"tools", "the model calls memory_recall, gets an answer from the store, and the exchange is stored as the host has it", tools},
	{"compaction", "/compact archives the turns, and the summary leads back to them", compaction},
	{"reset", "after a reset the model is shown nothing of before, and all of it is still stored", reset},
}

const (
	factKey = "agent:main:fact"
	fact    = "Please remember: the spare key of the boathouse hangs behind the barometer."
)

func load(ctx context.Context, w *world.World) error {
	answer, err := call(ctx, w, "skald.status", map[string]any{})
	if err != nil {
		return err
	}
	var status struct {
		OK     bool `json:"ok"`
		Plugin struct {
			Engine string `json:"engine"`
		} `json:"plugin"`
	}
	if err := json.Unmarshal(answer, &status); err != nil {
		return err
	}
	if !status.OK || status.Plugin.Engine != "selected" {
		return fmt.Errorf("skald.status answers %s", answer)
	}
	return nil
}

func capture(ctx context.Context, w *world.World) error {
	if _, _, err := w.Turn(ctx, factKey, fact); err != nil {
		return err
	}
	return sameAsHost(ctx, w, factKey, 2)
}

// sameAsHost compares what is stored of a session with the host's own transcript, byte for byte.
func sameAsHost(ctx context.Context, w *world.World, key string, messages int) error {
	turns, err := turnsOf(ctx, w, key, messages)
	if err != nil {
		return err
	}
	host, err := w.Transcript(key)
	if err != nil {
		return fmt.Errorf("the host's transcript cannot be read: %w", err)
	}
	if len(host) != len(turns) {
		return fmt.Errorf("the host has %d messages, the store %d", len(host), len(turns))
	}
	for i := range host {
		if string(host[i]) != string(turns[i].Raw) {
			return fmt.Errorf("message %d is stored as %s, the host has %s", i, turns[i].Raw, host[i])
		}
	}
	return nil
}

func assembly(ctx context.Context, w *world.World) error {
	_, requests, err := w.Turn(ctx, "agent:main:question", "Where does the spare key of the boathouse hang?")
	if err != nil {
		return err
	}
	if len(requests) == 0 || !requests[0].Contains("behind the barometer") {
		return errors.New("the request to the model does not hold the fact")
	}
	return nil
}

func tools(ctx context.Context, w *world.World) error {
	const key = "agent:main:tool"
	_, requests, err := w.Turn(ctx, key, `CALL memory_recall {"query":"boathouse spare key"}`)
	if err != nil {
		return err
	}
	if n := len(requests); n < 2 || !requests[n-1].Contains("behind the barometer") {
		return fmt.Errorf("%d requests, and the last one does not hold the tool's answer", n)
	}
	return sameAsHost(ctx, w, key, 4)
}

func compaction(ctx context.Context, w *world.World) error {
	const key = "agent:main:compact"
	for i := range 6 {
		if _, _, err := w.Turn(ctx, key, fmt.Sprintf("Note %d: we decided that cabinet %d is painted in colour RAL-%d.", i+1, i+1, 3000+i)); err != nil {
			return err
		}
	}
	if _, err := w.Gateway.Call(ctx, "sessions.compact", map[string]any{"key": key}); err != nil {
		return err
	}
	s, err := w.Session(ctx, key)
	if err != nil {
		return err
	}
	x, err := w.Client.Expand(ctx, world.Identity, "viking://session/"+s.ID+"/history/archive_001", "", 20)
	if err != nil {
		return err
	}
	for _, t := range x.Turns {
		if strings.Contains(t.Text, "RAL-3000") {
			return nil
		}
	}
	return fmt.Errorf("the archive expands to %d turns, without the first", len(x.Turns))
}

func reset(ctx context.Context, w *world.World) error {
	const key = "agent:main:reset"
	if _, _, err := w.Turn(ctx, key, "The password of the old rowing club was HERON-77-LANTERN."); err != nil {
		return err
	}
	if _, err := w.Gateway.Call(ctx, "sessions.reset", map[string]any{"key": key}); err != nil {
		return err
	}
	_, requests, err := w.Turn(ctx, key, "Please add two and three.")
	if err != nil {
		return err
	}
	if len(requests) == 0 || requests[0].Contains("HERON-77-LANTERN") {
		return errors.New("the request after the reset holds a turn of before")
	}
	_, err = turnsOf(ctx, w, key, 4)
	return err
}

// call waits for a gateway that is still starting.
func call(ctx context.Context, w *world.World, method string, params map[string]any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := w.Gateway.Call(ctx, method, params)
		if err == nil || !strings.Contains(err.Error(), "UNAVAILABLE") {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick.C:
		}
	}
}

// turnsOf waits for n stored turns of a session.
func turnsOf(ctx context.Context, w *world.World, key string, n int) ([]skald.TurnInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var turns []skald.TurnInfo
		s, err := w.Session(ctx, key)
		if err == nil {
			turns, err = w.Client.ListTurns(ctx, world.Identity, s.ID, 0, 0)
		}
		if err == nil && len(turns) >= n {
			return turns, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d turns are stored, not %d (%v)", len(turns), n, err)
		case <-tick.C:
		}
	}
}

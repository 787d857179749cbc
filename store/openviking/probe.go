package openviking

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
)

// server is what is known of the server. It is asked, not guessed by version, once per start and again when the version changed.
type server struct {
	version string
	user    string // whose sessions it shows
	batch   bool   // several messages in one request
	journal bool   // the journal's session is there
	checked time.Time
}

const (
	checkTime  = 5 * time.Second
	checkEvery = time.Minute
)

// probe asks whether the server is there, and after a change of its version what it can do. It runs in the background; no turn waits for it.
func (s *Store) probe(ctx context.Context) error {
	if s.now().Sub(s.server.checked) < checkEvery && !s.server.checked.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	version, err := s.o.Client.Health(ctx)
	if err != nil {
		return err
	}
	if s.server.user == "" || version != s.server.version {
		next := server{version: version}
		if next.user, err = s.o.Client.User(ctx); err != nil {
			return err
		}
		if next.user == "" {
			return skald.E("openviking.probe", skald.KindUnauth, "%s does not tell whose key this is: give a user's key as store_key_env or store_key",
				s.o.Client.URL())
		}
		if next.batch, err = s.o.Client.HasBatch(ctx); err != nil {
			return err
		}
		s.server = next
	}
	s.server.checked = s.now()
	s.health.reached(version)
	return nil
}

package resource

import (
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
)

// JobKind is the kind of an import's job.
const JobKind = "add_resource"

// Options of a Service. Dir is needed.
type Options struct {
	Policy  skald.Policy
	Dir     string           // a folder for uploads and downloads
	Clock   func() time.Time // nil: the real clock
	Wake    func()           // told of a new job; nil: the workers look by themselves
	Log     *slog.Logger     // nil: silent
	Guard   fetch.Guard
	Limits  fetch.Limits // zero: fetch.DefaultLimits
	Version string       // for the User-Agent
	// NoWatch turns the scheduler of watches off: they are refused.
	NoWatch bool
}

// Service imports resources, keeps uploads for them and repeats them. It is the skald.Worker of its jobs.
type Service struct {
	store skald.Store
	o     Options
	fetch fetch.Fetcher
}

var _ skald.Worker = (*Service)(nil)

// New makes a service over a store.
func New(store skald.Store, o Options) (*Service, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wake == nil {
		o.Wake = func() {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limits == (fetch.Limits{}) {
		o.Limits = fetch.DefaultLimits
	}
	s := &Service{store: store, o: o}
	s.fetch = fetch.Fetcher{Guard: o.Guard, Limits: o.Limits, Temp: s.temp(), Agent: "skald/" + o.Version}
	for _, dir := range []string{s.temp(), s.uploads()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, skald.E("resource.new", skald.KindUnavailable, "make a folder for imports: %w", err)
		}
	}
	return s, nil
}

func (s *Service) temp() string    { return filepath.Join(s.o.Dir, "tmp") }
func (s *Service) uploads() string { return filepath.Join(s.o.Dir, "upload") }

func (s *Service) now() time.Time { return s.o.Clock().UTC().Truncate(time.Millisecond) }

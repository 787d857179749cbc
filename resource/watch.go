package resource

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

const watchKind = "resource.watch"

// Watch repeats an import.
type Watch struct {
	ID       string         `json:"id"`
	Order    order          `json:"order"` // what is imported, and where to
	Identity skald.Identity `json:"identity"`
	Interval float64        `json:"interval"` // minutes
	Active   bool           `json:"active"`
	Created  time.Time      `json:"created"`
	Last     time.Time      `json:"last,omitzero"` // when an import was last begun
	Next     time.Time      `json:"next,omitzero"` // when the next one is due; zero when it is not active

	user skald.Scope // of the record
}

// Root is the resource that the watch keeps up to date.
func (w Watch) Root() skald.URI { return w.Order.Root }

// Source is the address, as it was given but without credentials.
func (w Watch) Source() string { return w.Order.Source }

// Request is the import that is repeated.
func (w Watch) Request() Request { return w.Order.Request }

// Change is what changes of a watch; nil leaves a field as it is.
type Change struct {
	Interval    *float64
	Active      *bool
	Reason      *string
	Instruction *string
}

// errNoWatch is the answer where the scheduler is off (412 on the wire).
func errNoWatch() error {
	return &skald.Error{Op: "resource.watch", Field: "watch_interval", Kind: skald.KindBudget, Err: errors.New("the scheduler of watches is off (import.no_watch in the configuration)")}
}

func noWatch(what string) error { return skald.NotFound("resource.watch", what) }

// watch keeps an import's watch, or changes the one that its root has.
func (s *Service) watch(tx skald.Tx, user skald.Scope, o order) (string, error) {
	w := Watch{Created: s.now(), user: user}
	old, err := s.watches(tx, user)
	if err != nil {
		return "", err
	}
	for _, have := range old {
		if have.Root() == o.Root {
			w = have
		}
	}
	if w.ID == "" {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", skald.E("resource.watch", skald.KindInternal, "%w", err)
		}
		w.ID = hex.EncodeToString(b[:])
	}
	o.Reserved = false
	w.Order, w.Identity, w.Interval, w.Active, w.Last = o, o.Identity, o.Request.Interval, !o.Request.Paused, s.now()
	w.schedule(s.now())
	return w.ID, putWatch(tx, w, s.now())
}

// schedule sets when the watch is due, counted from the import before.
func (w *Watch) schedule(now time.Time) {
	w.Next = time.Time{}
	if w.Active {
		from := w.Last
		if from.IsZero() {
			from = now
		}
		w.Next = from.Add(time.Duration(w.Interval * float64(time.Minute)))
	}
}

func putWatch(tx skald.Tx, w Watch, now time.Time) error {
	return tx.PutRecord(skald.Record{Scope: w.user, Kind: watchKind, ID: w.ID, Body: asJSON(w), Updated: now})
}

func (s *Service) watches(tx skald.Tx, scopes ...skald.Scope) (list []Watch, err error) {
	records, err := tx.Records(skald.RecordQuery{Scopes: scopes, Kind: watchKind})
	for _, r := range records {
		var w Watch
		if json.Unmarshal(r.Body, &w) == nil {
			w.user = r.Scope
			list = append(list, w)
		}
	}
	return list, err
}

// Watches lists the identity's watches, by root. to "" is all.
func (s *Service) Watches(ctx context.Context, id skald.Identity, to string, active bool) (list []Watch, err error) {
	if s.o.NoWatch {
		return nil, errNoWatch()
	}
	if to, err = s.uri(id, to); err != nil {
		return nil, err
	}
	err = s.store.View(ctx, func(tx skald.Tx) (err error) {
		list, err = s.watches(tx, s.o.Policy.UserScope(id))
		return err
	})
	list = slices.DeleteFunc(list, func(w Watch) bool { return to != "" && string(w.Root()) != to || active && !w.Active })
	slices.SortFunc(list, func(a, b Watch) int { return strings.Compare(string(a.Root()), string(b.Root())) })
	return list, err
}

func (s *Service) uri(id skald.Identity, raw string) (string, error) {
	if raw == "" {
		return "", nil
	}
	uri, err := skald.ParseURI(raw, id, s.o.Policy)
	return string(uri), err
}

// find reads a watch by its id, its root, or both, which must agree (KindInvalid). KindNotFound for an unknown one and another identity's.
func (s *Service) find(tx skald.Tx, id skald.Identity, name, to string) (Watch, error) {
	if s.o.NoWatch {
		return Watch{}, errNoWatch()
	}
	to, err := s.uri(id, to)
	if err != nil {
		return Watch{}, err
	}
	if name == "" && to == "" {
		return Watch{}, skald.Invalid("resource.watch", "to_uri", "either the id or to_uri must be given")
	}
	list, err := s.watches(tx, s.o.Policy.UserScope(id))
	if err != nil {
		return Watch{}, err
	}
	for _, w := range list {
		switch {
		case name != "" && w.ID == name && to != "" && string(w.Root()) != to:
			return w, skald.Invalid("resource.watch", "to_uri", "watch %s belongs to %s", name, w.Root())
		case name != "" && w.ID == name, name == "" && string(w.Root()) == to:
			return w, nil
		}
	}
	if name == "" {
		name = to
	}
	return Watch{}, noWatch(name)
}

// Watch reads one watch.
func (s *Service) Watch(ctx context.Context, id skald.Identity, name, to string) (w Watch, err error) {
	err = s.store.View(ctx, func(tx skald.Tx) (err error) {
		w, err = s.find(tx, id, name, to)
		return err
	})
	return w, err
}

// ChangeWatch changes a watch.
func (s *Service) ChangeWatch(ctx context.Context, id skald.Identity, name, to string, c Change) (w Watch, err error) {
	if c.Interval != nil && (*c.Interval <= 0 || *c.Interval > 60*24*366) {
		return w, skald.Invalid("resource.watch", "watch_interval", "is in minutes, more than 0 and at most a year")
	}
	err = s.store.Update(ctx, func(tx skald.Tx) (err error) {
		if w, err = s.find(tx, id, name, to); err != nil {
			return err
		}
		if c.Interval != nil {
			w.Interval = *c.Interval
		}
		if c.Active != nil {
			w.Active = *c.Active
		}
		if c.Reason != nil {
			w.Order.Request.Reason = *c.Reason
		}
		if c.Instruction != nil {
			w.Order.Request.Instruction = *c.Instruction
		}
		w.schedule(s.now())
		return putWatch(tx, w, s.now())
	})
	return w, err
}

// DeleteWatch removes a watch; what it imported stays.
func (s *Service) DeleteWatch(ctx context.Context, id skald.Identity, name, to string) (w Watch, err error) {
	err = s.store.Update(ctx, func(tx skald.Tx) (err error) {
		if w, err = s.find(tx, id, name, to); err != nil {
			return err
		}
		return tx.DeleteRecord(w.user, watchKind, w.ID)
	})
	return w, err
}

// TriggerWatch repeats the import now.
func (s *Service) TriggerWatch(ctx context.Context, id skald.Identity, name, to string) (w Watch, err error) {
	err = s.store.Update(ctx, func(tx skald.Tx) (err error) {
		if w, err = s.find(tx, id, name, to); err != nil {
			return err
		}
		return s.begin(tx, &w)
	})
	if err == nil {
		s.o.Wake()
	}
	return w, err
}

// begin queues a watch's import, unless the one before has not ended yet, and sets when it is due again.
func (s *Service) begin(tx skald.Tx, w *Watch) error {
	key := "resource/watch/" + w.ID
	open, err := openJobs(tx)
	if err != nil {
		return err
	}
	w.Last = s.now()
	w.schedule(s.now())
	if err := putWatch(tx, *w, s.now()); err != nil || open[key] {
		return err
	}
	o := w.Order
	if o.Reserved, err = s.reserve(tx, o); err != nil {
		return err
	}
	_, err = s.enqueue(tx, w.user, key, o)
	return err
}

// Tick begins the imports of all watches that are due.
func (s *Service) Tick(ctx context.Context) error {
	if s.o.NoWatch {
		return nil
	}
	var due []Watch
	err := s.store.View(ctx, func(tx skald.Tx) error {
		list, err := s.watches(tx)
		for _, w := range list {
			if w.Active && !w.Next.After(s.now()) {
				due = append(due, w)
			}
		}
		return err
	})
	for _, w := range due {
		err = errors.Join(err, s.repeat(ctx, w))
	}
	if len(due) > 0 {
		s.o.Wake()
	}
	return err
}

// repeat begins one import, unless the watch was changed or removed meanwhile.
func (s *Service) repeat(ctx context.Context, due Watch) error {
	return s.store.Update(ctx, func(tx skald.Tx) error {
		list, err := s.watches(tx, due.user)
		for _, w := range list {
			if w.ID == due.ID && w.Active && !w.Next.After(s.now()) {
				return s.begin(tx, &w)
			}
		}
		return err
	})
}

// Run begins the imports of watches when they are due, and sweeps, until ctx ends.
func (s *Service) Run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := errors.Join(s.Tick(ctx), s.Sweep(ctx)); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("watches and uploads", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

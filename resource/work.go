package resource

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/tree"
)

// Work implements skald.Worker: it fetches, reads and writes. Everything it writes carries what it was made from, so that a job that was killed
// anywhere finds what is done, and does the rest.
func (s *Service) Work(ctx context.Context, j skald.Job, progress func(skald.JobNote) error) (skald.JobNote, error) {
	o, err := s.order(ctx, j)
	if err != nil {
		return skald.JobNote{}, err
	}
	note := skald.JobNote{Resource: string(o.Root), Meta: metaOf(o)}
	r := &run{s: s, scope: o.Scope, root: o.Root, request: o.Request}
	r.out = Outcome{Status: "success", RootURI: o.Root, Source: o.Source, Errors: []string{}}
	r.note = func(stage string) error {
		note.Stage = stage
		return progress(note)
	}
	err = s.do(ctx, r, o)
	if ctx.Err() != nil {
		return note, ctx.Err()
	}
	if err != nil {
		r.out.Status, r.out.Kind, r.out.Message = "error", skald.KindOf(err), message(err)
		note.Stage, note.Result = "failed", asJSON(r.out)
		return note, errors.Join(err, s.giveUp(ctx, o, err), progress(note))
	}
	note.Stage, note.Result = "done", asJSON(r.out)
	return note, nil
}

func (s *Service) order(ctx context.Context, j skald.Job) (o order, err error) {
	err = s.store.View(ctx, func(tx skald.Tx) error {
		rec, err := tx.Record(j.Session.Scope, importKind, j.Key)
		if err != nil {
			return err
		}
		return json.Unmarshal(rec.Body, &o)
	})
	return o, err
}

func (s *Service) do(ctx context.Context, r *run, o order) (err error) {
	if err := r.note("fetching"); err != nil {
		return err
	}
	filter, err := o.Request.check()
	if err != nil {
		return err
	}
	if r.source, err = s.get(ctx, o, filter); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.source.Close()) }()
	for _, w := range r.source.Warnings {
		r.warn("%s", w)
	}
	return r.all(ctx)
}

func (s *Service) get(ctx context.Context, o order, filter fetch.Filter) (*fetch.Source, error) {
	if o.Request.Upload != "" {
		return s.fetch.FromFile(filepath.Join(s.uploads(), filepath.Base(o.Request.Upload)), o.Name, filter)
	}
	address, err := fetch.Parse(o.Request.Path, o.Request.AddType)
	if err != nil {
		return nil, err
	}
	if o.Request.Branch != "" {
		address.Ref, address.Open = o.Request.Branch, false
	}
	return s.fetch.FromWeb(ctx, address, filter)
}

// message is an error's text without the operations inside it.
func message(err error) string {
	var own *skald.Error
	if errors.As(err, &own) && own.Err != nil {
		return own.Err.Error()
	}
	return err.Error()
}

// giveUp removes the folder that was reserved for an import which will not be tried again and has brought nothing.
func (s *Service) giveUp(ctx context.Context, o order, cause error) error {
	switch skald.KindOf(cause) {
	case skald.KindInvalid, skald.KindNotFound, skald.KindPermission, skald.KindExists, skald.KindUnsupported:
	default:
		return nil
	}
	if !o.Reserved {
		return nil
	}
	return s.store.Update(ctx, func(tx skald.Tx) error {
		left, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{o.Scope}, Under: o.Root, Limit: 1})
		if err != nil || len(left) > 0 {
			return err
		}
		_, err = tree.Delete(tx, o.Scope, o.Root)
		return err
	})
}

package resource

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
)

// Sweep removes what nobody will ask for any more: uploads that were imported or are too old, the requests of imports that have ended, and files
// that no record names.
func (s *Service) Sweep(ctx context.Context) error {
	var gone []string
	err := s.store.Update(ctx, func(tx skald.Tx) error {
		gone = nil
		open, err := openJobs(tx)
		if err != nil {
			return err
		}
		imports, err := tx.Records(skald.RecordQuery{Kind: importKind})
		if err != nil {
			return err
		}
		for _, r := range imports {
			if !open[r.ID] {
				if err := tx.DeleteRecord(r.Scope, r.Kind, r.ID); err != nil {
					return err
				}
			}
		}
		uploads, err := tx.Records(skald.RecordQuery{Kind: uploadKind})
		if err != nil {
			return err
		}
		for _, r := range uploads {
			var u upload
			_ = json.Unmarshal(r.Body, &u) // a broken record is as good as none: it goes
			if u.Job == "" && s.now().Sub(u.Created) <= UploadTTL || u.Job != "" && open[u.Job] {
				continue
			}
			if err := tx.DeleteRecord(r.Scope, r.Kind, r.ID); err != nil {
				return err
			}
			gone = append(gone, r.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range gone {
		err = errors.Join(err, remove(filepath.Join(s.uploads(), filepath.Base(key))))
	}
	return errors.Join(err, s.orphans())
}

// openJobs are the keys of the imports that have not ended.
func openJobs(tx skald.Tx) (map[string]bool, error) {
	jobs, err := tx.Jobs(nil, 0)
	open := map[string]bool{}
	for _, j := range jobs {
		if j.Kind == JobKind && j.State == skald.JobReady {
			open[j.Key] = true
		}
	}
	return open, err
}

// orphans removes files that were uploaded just before a crash, and have no record.
func (s *Service) orphans() error {
	list, err := os.ReadDir(s.uploads())
	if err != nil {
		return err
	}
	for _, e := range list {
		info, err := e.Info()
		if err == nil && s.now().Sub(info.ModTime()) > 2*UploadTTL {
			if err := remove(filepath.Join(s.uploads(), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Clear removes the downloads that a killed process left. The folder must be this process's alone.
func (s *Service) Clear() error {
	list, err := os.ReadDir(s.temp())
	if err != nil {
		return err
	}
	for _, e := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.temp(), e.Name())))
	}
	return err
}

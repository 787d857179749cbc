package openviking

import (
	"context"
	"slices"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
)

// mostWait is how long the server may take for an archive's memories before they are given up: its tasks are forgotten after a day.
const mostWait = 48 * time.Hour

// collect looks after the archives that the server still works on, and takes what it made of them.
func (d *delivery) collect(ctx context.Context) error {
	for _, w := range slices.Clone(d.state.Waiting) {
		ended, failure, err := d.ended(ctx, w)
		if err != nil {
			return err
		}
		if !ended && d.store.now().Sub(w.Since) < mostWait {
			continue
		}
		diff, err := d.diff(ctx, w)
		if err != nil {
			return err
		}
		w.State, w.Error = "done", failure
		if failure != "" {
			w.State = "failed"
			d.store.o.Log.Warn("the server made no memories of an archive; its turns are there", "archive", w.URI, "error", failure)
		}
		d.state.Waiting = slices.DeleteFunc(slices.Clone(d.state.Waiting), func(x committed) bool { return x.Index == w.Index })
		err = d.save(ctx, func(tx skald.Tx) error {
			if err := d.take(tx, w, diff); err != nil {
				return err
			}
			return d.putArchive(tx, w)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ended reports whether the server has finished with an archive, and what failed.
func (d *delivery) ended(ctx context.Context, w committed) (ended bool, failure string, err error) {
	if w.Task != "" {
		t, err := d.store.o.Client.Task(ctx, w.Task)
		if err == nil {
			if t.Status != "completed" {
				failure = t.Status + ": " + t.Error
			}
			return t.Ended(), failure, nil
		}
		if skald.KindOf(err) != skald.KindNotFound {
			return false, "", err
		}
	}
	list, err := d.store.o.Client.List(ctx, w.URI) // the task is not known, or forgotten by now
	if err != nil {
		return skald.KindOf(err) == skald.KindNotFound, "", unlessMissing(err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(list, func(e openviking.Entry) bool { return e.Name == name })
	}
	if has(".failed.json") {
		failure = "failed"
	}
	return failure != "" || has(".done") || has("memory_diff.json"), failure, nil
}

func unlessMissing(err error) error {
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	return err
}

// diff reads what the server made of an archive; nothing when there is no such file.
func (d *delivery) diff(ctx context.Context, w committed) (diff, error) {
	b, err := d.store.o.Client.Read(ctx, w.URI+"/memory_diff.json")
	if err != nil {
		return diff{}, unlessMissing(err)
	}
	return parseDiff(b)
}

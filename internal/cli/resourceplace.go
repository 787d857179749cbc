package cli

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/resource"
)

// fresh opens a data folder also where there is none yet.
func (s *shell) fresh() app.Options { return app.Options{} }

// importer imports at a place: at a daemon, or in this process.
type importer struct {
	id     skald.Identity
	daemon *client.Client
	app    *app.App
}

func (s *shell) importer(p *place) importer {
	daemon, _ := p.Engine.(*client.Client) // nil: the store is opened here
	return importer{id: p.id, daemon: daemon, app: p.app}
}

// add uploads what lies on this machine, and imports.
func (i importer) add(ctx context.Context, source string, r resource.Request, wait bool) (resource.Outcome, error) {
	file, name, err := openSource(source)
	if err != nil {
		return resource.Outcome{}, err
	}
	if file == nil {
		r.Path = source
	} else {
		defer file.Close()
		if r.Upload, err = i.upload(ctx, name, file); err != nil {
			return resource.Outcome{}, err
		}
	}
	if i.daemon != nil {
		return i.ask(ctx, r, wait)
	}
	stop := i.app.Background(ctx)
	defer stop()
	started, err := i.app.Resources().Add(ctx, i.id, r)
	if err != nil {
		return resource.Outcome{}, err
	}
	return i.app.Resources().Wait(ctx, i.id, started.Task) // nobody would go on with it after this process
}

func (i importer) upload(ctx context.Context, name string, file io.Reader) (string, error) {
	if i.daemon != nil {
		return i.daemon.Upload(ctx, i.id, name, file)
	}
	return i.app.Resources().PutUpload(ctx, i.id, name, file)
}

// ask imports at the daemon.
func (i importer) ask(ctx context.Context, r resource.Request, wait bool) (out resource.Outcome, err error) {
	body := map[string]any{
		"create_parent": r.CreateParent, "reason": r.Reason, "strict": r.Strict, "wait": wait, "watch_interval": r.Interval,
		"preserve_structure": !r.Flat, "tags": r.Tags,
	}
	for key, v := range map[string]string{"path": r.Path, "temp_file_id": r.Upload, "to": r.To, "parent": r.Parent, "include": r.Include,
		"exclude": r.Exclude, "ignore_dirs": r.IgnoreDirs} {
		if v != "" {
			body[key] = v
		}
	}
	if r.Branch != "" {
		body["args"] = map[string]string{"branch": r.Branch}
	}
	err = i.daemon.API(ctx, http.MethodPost, "/resources", i.id, nil, body, &out)
	if err == nil && !wait {
		out.Status = "accepted"
	}
	return out, err
}

// watch is a watch as the API shows it.
type watch struct {
	ID       string  `json:"task_id"`
	Path     string  `json:"path"`
	To       string  `json:"to_uri"`
	Interval float64 `json:"watch_interval"`
	Active   bool    `json:"is_active"`
	Last     *string `json:"last_execution_time"`
	Next     *string `json:"next_execution_time"`
}

// watches lists the watches.
func (i importer) watches(ctx context.Context) ([]watch, error) {
	if i.daemon != nil {
		var out struct {
			Tasks []watch `json:"tasks"`
		}
		err := i.daemon.API(ctx, http.MethodGet, "/watches", i.id, nil, nil, &out)
		return out.Tasks, err
	}
	list, err := i.app.Resources().Watches(ctx, i.id, "", false)
	var out []watch
	for _, w := range list {
		out = append(out, shown(w))
	}
	return out, err
}

func shown(w resource.Watch) watch {
	out := watch{ID: w.ID, Path: w.Source(), To: string(w.Root()), Interval: w.Interval, Active: w.Active}
	if !w.Last.IsZero() {
		last := when(w.Last)
		out.Last = &last
	}
	if !w.Next.IsZero() {
		next := when(w.Next)
		out.Next = &next
	}
	return out
}

// change does one of pause, resume, trigger and remove to the watch of a resource.
func (i importer) change(ctx context.Context, what, to string) error {
	active := what == "resume"
	if i.daemon == nil {
		var err error
		switch s := i.app.Resources(); what {
		case "remove":
			_, err = s.DeleteWatch(ctx, i.id, "", to)
		case "trigger":
			_, err = s.TriggerWatch(ctx, i.id, "", to)
		default:
			_, err = s.ChangeWatch(ctx, i.id, "", to, resource.Change{Active: &active})
		}
		return err
	}
	q := url.Values{"to_uri": {to}}
	switch what {
	case "remove":
		return i.daemon.API(ctx, http.MethodDelete, "/watches", i.id, q, nil, nil)
	case "trigger":
		return i.daemon.API(ctx, http.MethodPost, "/watches/trigger", i.id, q, nil, nil)
	}
	return i.daemon.API(ctx, http.MethodPatch, "/watches", i.id, q, map[string]any{"is_active": active}, nil)
}

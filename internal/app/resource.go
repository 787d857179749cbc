package app

import (
	"path/filepath"
	"time"

	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/resource/fetch"
)

// watchEvery is how often the watches that are due are looked for.
const watchEvery = 15 * time.Second

// importer makes the part that imports resources. Its folder lies beside the database.
func (a *App) importer() (*resource.Service, error) {
	c := a.options.Config
	s, err := resource.New(a.store, resource.Options{
		Policy: a.Engine.Policy(), Dir: filepath.Join(c.Data, "import"), Clock: a.options.Clock, Wake: a.Engine.Wake, Log: a.options.Log,
		Guard: fetch.Guard{AllowPrivate: c.Import.AllowPrivate}, Version: Version, NoWatch: c.Import.NoWatch,
	})
	if err != nil {
		return nil, err
	}
	a.Engine.Handle(resource.JobKind, s)
	return s, s.Clear() // nobody else has the data folder, and no job runs yet
}

// Resources imports resources into this app's store.
func (a *App) Resources() *resource.Service { return a.resources }

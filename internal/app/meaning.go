package app

import (
	"context"

	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/static"
)

// mean puts the configured model over the local store: the table of the binary, unless meaning is off.
func (a *App) mean() {
	if !a.options.Config.Meaning {
		return
	}
	a.meaning = meaning.New(a.store, meaning.Options{Model: static.Table{}, Log: a.options.Log})
	a.store = a.meaning
}

// embed embeds in the background what is not embedded yet, until ctx ends.
func (a *App) embed(ctx context.Context) {
	if a.meaning != nil {
		a.meaning.Run(ctx)
	}
}

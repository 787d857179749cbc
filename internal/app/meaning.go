package app

import (
	"context"
	"os"

	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/model/openai"
	"github.com/skald-engine/skald/model/static"
)

// mean puts the configured model over the local store, unless meaning is off: the endpoint of the configuration, with the table of the binary
// until that has embedded everything, or the table alone.
func (a *App) mean() {
	c := a.options.Config
	if !c.Meaning {
		return
	}
	o := meaning.Options{Model: static.Table{}, Log: a.options.Log}
	if e := c.Embedding; e.URL != "" {
		o.Model, o.Meanwhile = openai.NewEmbedder(openai.Options{URL: e.URL, Model: e.Name, Key: e.Key(os.Getenv)}), static.Table{}
	}
	a.meaning = meaning.New(a.store, o)
	a.store = a.meaning
}

// embed embeds in the background what is not embedded yet, until ctx ends.
func (a *App) embed(ctx context.Context) {
	if a.meaning != nil {
		a.meaning.Run(ctx)
	}
}

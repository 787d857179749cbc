package cli

import (
	"context"
	"fmt"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/cli/setup"
	"github.com/skald-engine/skald/internal/config"
)

// interview asks for what `skald init` is not told by flags; what is configured already is the answer that is offered.
func (s *shell) interview(ctx context.Context, ask asker, w *wishes, found []offer) (err error) {
	w.data, err = ask.text(ctx, "Where shall the data live?", "A folder on a disk of this machine.", w.data, func(path string) error {
		path, err := expanded(path)
		if err != nil {
			return err
		}
		return setup.CheckFolder(path)
	})
	if err != nil {
		return err
	}
	if w.data, err = expanded(w.data); err != nil {
		return err
	}
	w.user, err = ask.text(ctx, "Whose is it?", "The user that all of it belongs to; one person needs no other than default.",
		w.user, checkName)
	if err != nil {
		return err
	}
	if err := s.askEndpoint(ctx, ask, "model", &w.model, setup.CheckModel); err != nil {
		return err
	}
	if err := s.askEndpoint(ctx, ask, "embedding", &w.embedding, setup.CheckEmbedding); err != nil {
		return err
	}
	for _, o := range found {
		yes, err := ask.confirm(ctx, o.Question, o.Where, true)
		if err != nil {
			return err
		}
		if yes {
			o.wish(w)
		}
	}
	return nil
}

func expanded(path string) (string, error) {
	c := config.Default()
	c.Data = path
	err := c.Finish()
	return c.Data, err
}

func checkName(name string) error {
	if !skald.SafeID(name) {
		return skald.Invalid("", "", "letters, digits and _@.- only, at most 128")
	}
	return nil
}

var article = map[string]string{"model": "a model", "embedding": "an embedding"}

type endpointCheck func(context.Context, config.Endpoint, func(string) string) error

// askEndpoint asks for an optional endpoint until one answers or the user has enough.
func (s *shell) askEndpoint(ctx context.Context, ask asker, name string, e *config.Endpoint, check endpointCheck) error {
	if *e != (config.Endpoint{}) {
		return nil // configured, or given by flags
	}
	title := "Store " + article[name] + " endpoint?"
	about := "Optional. Any OpenAI-compatible API. This version works without one and does not use it yet."
	for {
		yes, err := ask.confirm(ctx, title, about, false)
		if err != nil || !yes {
			return err
		}
		given, err := askFields(ctx, ask, name)
		if err != nil {
			return err
		}
		if err = check(ctx, given, s.env); err == nil {
			*e = given
			return nil
		}
		title, about = "It did not work. Try again?", plainText(err)
	}
}

func askFields(ctx context.Context, ask asker, name string) (e config.Endpoint, err error) {
	any := func(string) error { return nil }
	if e.URL, err = ask.text(ctx, "Base URL", "As in http://127.0.0.1:11434/v1", "", any); err != nil {
		return e, err
	}
	if e.Name, err = ask.text(ctx, "Name of the model", "As the endpoint knows it.", "", any); err != nil {
		return e, err
	}
	e.KeyEnv, err = ask.text(ctx, "Variable that holds the key", "The name of an environment variable, not the key. Empty for none.", "", any)
	return e, err
}

// confirmChanges shows what would replace values that somebody set, and ends the command when it should not.
func confirmChanges(ctx context.Context, ask asker, file *setup.File) error {
	for _, c := range file.Overwrites() {
		yes, err := ask.confirm(ctx, fmt.Sprintf("Change %s?", c.Key),
			fmt.Sprintf("It is %v in %s, and would be %v.", c.Was, file.Path, c.Is), true)
		if err != nil {
			return err
		}
		if !yes {
			return skald.Invalid("", c.Key, "stays %v: nothing was changed", c.Was)
		}
	}
	return nil
}

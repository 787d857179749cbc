package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/cli/setup"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/server"
)

// wishes are what `skald init` is told by flags, and asks for otherwise.
type wishes struct {
	file                string
	yes, dryRun         bool
	data, account, user string
	configured          string // the data folder that the file names
	model, embedding    config.Endpoint
	openclaw, claude    bool
	imports             []string
}

func (s *shell) init() *cobra.Command {
	var w wishes
	c := &cobra.Command{
		Use: "init", Short: "Set Skald up: where data lives, what is installed here, what to bring in", Args: arguments(),
		Long: `Ask where the data shall live and whose it is, find OpenClaw, Claude Code and the conversations on this machine, and offer to put
Skald into them and to bring these in; then look whether all is well. Everything can be asked again: what is there stays, and a value
that would be replaced is shown first.

With --yes nothing is asked: what the flags say is done, the rest stays as it is or takes its default. Other programs are changed only
when a flag names them.

A model or embedding endpoint is checked with one call and stored. Recall by meaning uses the embedding endpoint; this version summarises without a
model. The key is never stored, only the name of the variable that holds it.`,
		Example: "  skald init\n  skald init --yes --openclaw --import openclaw\n  skald init --dry-run --yes --data /srv/skald",
		RunE:    func(c *cobra.Command, _ []string) error { return s.runInit(c.Context(), w) },
	}
	f := c.Flags()
	f.BoolVarP(&w.yes, "yes", "y", false, "ask nothing")
	f.BoolVar(&w.dryRun, "dry-run", false, "say what would be done, and do nothing")
	f.StringVar(&w.file, "config", "", "configuration file (default SKALD_CONFIG, else ~/.skald/config.json)")
	f.StringVar(&w.data, "data", "", "folder of everything that Skald keeps (default ~/.skald)")
	f.StringVar(&w.account, "account", "", "account that the data belongs to (default \"default\")")
	f.StringVar(&w.user, "user", "", "user that the data belongs to (default \"default\")")
	for name, e := range map[string]*config.Endpoint{"model": &w.model, "embedding": &w.embedding} {
		f.StringVar(&e.URL, name+"-url", "", "base URL of an OpenAI-compatible API for the "+name)
		f.StringVar(&e.Name, name+"-name", "", "name of the "+name+" there")
		f.StringVar(&e.KeyEnv, name+"-key-env", "", "environment variable that holds the key")
	}
	f.BoolVar(&w.openclaw, "openclaw", false, "install into OpenClaw")
	f.BoolVar(&w.claude, "claude", false, "install into Claude Code")
	f.StringSliceVar(&w.imports, "import", nil, "bring these in: openclaw, claude-code, codex")
	return c
}

// initReport is what `skald init` did, or would do.
type initReport struct {
	DryRun  bool           `json:"dry_run"`
	Config  string         `json:"config"`
	Data    string         `json:"data"`
	Changes []setup.Change `json:"changes"`
	Checked []string       `json:"checked"` // endpoints that answered
	Found   []offer        `json:"found"`
	Steps   []step         `json:"steps"` // commands that were run, in order
	Next    []string       `json:"next"`  // commands for the user
}

func (s *shell) runInit(ctx context.Context, w wishes) error {
	w.file = cmp.Or(w.file, config.Path(os.LookupEnv))
	if w.file == "" {
		return skald.Invalid("", "config", "there is no home folder: name the file with --config")
	}
	if err := w.start(); err != nil {
		return err
	}
	found := s.offers(ctx)
	var ask asker
	if !w.yes {
		if !s.interactive() {
			return skald.Invalid("", "yes", "there is no terminal to ask questions on: `skald init --yes` takes the flags and the defaults")
		}
		ask = s.asker()
		if err := s.interview(ctx, ask, &w, found); err != nil {
			return err
		}
	}
	r := initReport{DryRun: w.dryRun, Config: w.file, Data: w.data, Checked: []string{}, Found: list(found), Steps: []step{}}
	if err := setup.CheckFolder(w.data); err != nil {
		return err
	}
	file, err := w.changes()
	if err != nil {
		return err
	}
	r.Changes = list(file.Changes)
	if err := s.checkEndpoints(ctx, w, file, &r); err != nil {
		return err
	}
	if ask != nil && !w.dryRun {
		if err := confirmChanges(ctx, ask, file); err != nil {
			return err
		}
	}
	return s.carryOut(ctx, w, file, r)
}

// start completes the wishes with what is configured already.
func (w *wishes) start() error {
	c := config.Default()
	if _, err := os.Stat(w.file); err == nil {
		if c, _, err = config.Load(w.file, func(string) (string, bool) { return "", false }); err != nil {
			return badFile(err, "config")
		}
	}
	var err error
	if w.configured, err = expanded(c.Data); err != nil {
		return err
	}
	c.Data = cmp.Or(w.data, os.Getenv("SKALD_DATA"), c.Data)
	c.Identity.Account = cmp.Or(w.account, c.Identity.Account)
	c.Identity.User = cmp.Or(w.user, c.Identity.User)
	if w.model == (config.Endpoint{}) {
		w.model = c.Model
	}
	if w.embedding == (config.Endpoint{}) {
		w.embedding = c.Embedding
	}
	c.Model, c.Embedding = w.model, w.embedding
	if err := c.Finish(); err != nil {
		return err
	}
	w.data, w.account, w.user = c.Data, c.Identity.Account, c.Identity.User
	return nil
}

// changes puts the wishes into the configuration file, in memory.
func (w *wishes) changes() (*setup.File, error) {
	file, err := setup.ReadFile(w.file)
	if err != nil {
		return nil, err
	}
	if w.data != w.configured || !file.Has("data") { // ~/.skald and its long form are one
		file.Set("data", w.data)
	}
	file.Set("identity.account", w.account)
	file.Set("identity.user", w.user)
	for key, e := range map[string]config.Endpoint{"model": w.model, "embedding": w.embedding} {
		if e != (config.Endpoint{}) {
			file.Set(key+".url", e.URL)
			file.Set(key+".name", e.Name)
			file.Set(key+".key_env", e.KeyEnv)
		}
	}
	file.Sort()
	return file, nil
}

// checkEndpoints makes one call to each endpoint that is new or changed. A dry run makes none.
func (s *shell) checkEndpoints(ctx context.Context, w wishes, file *setup.File, r *initReport) error {
	if w.dryRun {
		return nil
	}
	if file.Changed("model") {
		if err := setup.CheckModel(ctx, w.model, s.env); err != nil {
			return err
		}
		r.Checked = append(r.Checked, "model")
	}
	if file.Changed("embedding") {
		if err := setup.CheckEmbedding(ctx, w.embedding, s.env); err != nil {
			return err
		}
		r.Checked = append(r.Checked, "embedding")
	}
	return nil
}

// carryOut does what was wished, in the order in which each step needs the one before.
func (s *shell) carryOut(ctx context.Context, w wishes, file *setup.File, r initReport) error {
	s.tell(func(out io.Writer) { showPlan(out, r) })
	if !w.dryRun {
		if err := w.makeData(ctx, file); err != nil {
			return err
		}
		for _, o := range r.Found {
			if o.wished(&w) {
				r.Steps = append(r.Steps, s.runStep(ctx, o.args(ctx, &w)))
			}
		}
		r.Steps = append(r.Steps, s.runStep(ctx, append([]string{"doctor"}, w.place(ctx)...)))
	}
	r.Next = w.next(r)
	return s.print(r, func(out io.Writer) { showNext(out, r) })
}

// makeData writes the configuration and makes folder, key and an empty store, unless a daemon holds the folder already.
func (w *wishes) makeData(ctx context.Context, file *setup.File) error {
	if err := file.Write(); err != nil {
		return err
	}
	if _, err := server.EnsureKey(w.data); err != nil {
		return err
	}
	if w.running(ctx) {
		return nil
	}
	c, _, err := config.Load(w.file, os.LookupEnv)
	if err != nil {
		return err
	}
	c.Data = w.data
	a, err := app.Open(ctx, app.Options{Config: c})
	if err != nil {
		return err
	}
	return a.Close()
}

// running reports whether a daemon holds the data folder: one answers where the configuration has it listen, takes the folder's key, and
// has its store there. Another user's daemon on the same port is none.
func (w *wishes) running(ctx context.Context) bool {
	at := where{config: w.file}
	c, err := at.settings()
	if err != nil {
		return false
	}
	key, err := server.ReadKey(w.data)
	if err != nil {
		return false
	}
	st, err := client.New(at.address(c), key, client.Options{}).Status(ctx, skald.DefaultIdentity)
	return err == nil && filepath.Dir(st.Store.Path) == w.data
}

// place says to another command where the data is: at the daemon when one runs, else in the folder itself.
func (w *wishes) place(ctx context.Context) (args []string) {
	if w.file != config.Path(os.LookupEnv) {
		args = append(args, "--config", w.file)
	}
	if !w.running(ctx) {
		args = append(args, "--data", w.data)
	}
	return args
}

func (w *wishes) next(r initReport) []string {
	next := []string{}
	for _, o := range r.Found {
		if !o.wished(w) {
			next = append(next, o.Command)
		}
	}
	if !w.openclaw {
		next = append(next, "skald serve")
	}
	return append(next, "skald status")
}

func showPlan(w io.Writer, r initReport) {
	title := "Setting up"
	if r.DryRun {
		title = "This would be done"
	}
	fmt.Fprintln(w, paint(w, bold, title))
	table(w, [][]string{{"  configuration", r.Config}, {"  data", r.Data}})
	for _, c := range r.Changes {
		if c.Was == nil {
			fmt.Fprintf(w, "  set %s to %v\n", c.Key, c.Is)
			continue
		}
		fmt.Fprintf(w, "  %s %s from %v to %v\n", paint(w, yellow, "change"), c.Key, c.Was, c.Is)
	}
	if len(r.Changes) == 0 {
		fmt.Fprintln(w, "  the configuration stays as it is")
	}
	for _, name := range r.Checked {
		use := "stored, and not used by this version yet"
		if name == "embedding" {
			use = "used for recall by meaning from the daemon's next start on"
		}
		fmt.Fprintf(w, "  the %s answers; it is %s\n", name, use)
	}
	for _, o := range r.Found {
		fmt.Fprintln(w, "  found", o)
	}
}

func showNext(w io.Writer, r initReport) {
	fmt.Fprintf(w, "\n%s\n", paint(w, bold, "Next"))
	for _, c := range r.Next {
		fmt.Fprintln(w, "  "+c)
	}
}

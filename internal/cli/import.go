package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/chatgpt"
	"github.com/skald-engine/skald/ingest/claudecode"
	"github.com/skald-engine/skald/ingest/codex"
	"github.com/skald-engine/skald/ingest/jsonl"
	"github.com/skald-engine/skald/ingest/losslessclaw"
	"github.com/skald-engine/skald/ingest/openclaw"
	"github.com/skald-engine/skald/ingest/ovpack"
	"github.com/skald-engine/skald/internal/app"
)

// opener finds what one program kept.
type opener func(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error)

// importers are the sources by the name that the command takes.
var importers = map[string]opener{
	chatgpt.Name:      chatgpt.Open,
	claudecode.Name:   claudecode.Open,
	codex.Name:        codex.Open,
	jsonl.Name:        jsonl.Open,
	losslessclaw.Name: losslessclaw.Open,
	openclaw.Name:     openclaw.Open,
	ovpack.Name:       ovpack.Open,
}

// importFlags are the command's own.
type importFlags struct {
	since, session string
	limit          int
	dryRun         bool
	state, config  string
}

func (s *shell) importing() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use: "import NAME [PATH...]", Short: "Import earlier conversations of another program",
		Long: `Import what another program kept of earlier conversations: every message with its role and time, searchable at once. NAME is one of
` + strings.Join(importNames(), ", ") + `. Without PATH each looks where its program keeps its data. The other program's files are
only read.

An import may be repeated: what is stored already is recognised. Interrupted, it goes on where it stopped.`,
		ValidArgs: importNames(),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments("NAME")(c, args)
			}
			if err := oneOf("name", args[0], importNames()...); err != nil {
				return err
			}
			return readableNames(args[1:])
		},
		Example: "  skald import openclaw --dry-run\n  skald import claude-code\n  skald import jsonl talk.jsonl",
		RunE: func(c *cobra.Command, args []string) error {
			report, err := s.runImport(c.Context(), args[0], args[1:], f)
			if err != nil {
				return err
			}
			return s.print(report, func(w io.Writer) { showImport(w, report) })
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "read everything and say what would be imported; write nothing")
	flags.StringVar(&f.since, "since", "", "leave out messages before this date, 2026-01-31 or 2026-01-31T08:00:00Z")
	flags.StringVar(&f.session, "session", "", "put all messages into this session (default: a session for each conversation)")
	flags.IntVar(&f.limit, "limit", 0, "import at most so many messages in this run; 0: all")
	flags.StringVar(&f.state, "openclaw-state", "", "OpenClaw's state folder (default OPENCLAW_STATE_DIR, else ~/.openclaw)")
	flags.StringVar(&f.config, "openclaw-config", "", "OpenClaw's openclaw.json (default OPENCLAW_CONFIG_PATH, else in the state folder)")
	s.whereFlags(c)
	return c
}

func importNames() []string { return slices.Sorted(maps.Keys(importers)) }

func (s *shell) runImport(ctx context.Context, name string, paths []string, f importFlags) (report ingest.Report, err error) {
	if err := within("limit", int64(f.limit), 0, 1<<40); err != nil {
		return report, err
	}
	if strings.Contains(f.session, "://") {
		return report, skald.Invalid("", "session", "%q is a URI: give the session's id alone, as `skald sessions` lists it", f.session)
	}
	o := ingest.Options{Session: f.session, Limit: f.limit, DryRun: f.dryRun}
	if o.Since, err = parseDate("since", f.since); err != nil {
		return report, err
	}
	source, err := importers[name](ctx, paths, ingest.OpenOptions{
		Agent: s.where.agent, User: s.where.user, Session: f.session, State: f.state, Config: f.config,
	})
	if err != nil {
		return report, err
	}
	bar := s.progressBar()
	defer bar.end()
	o.Progress = bar.show
	err = s.open(ctx, app.Options{Existing: f.dryRun}, func(p *place) error {
		if p.app != nil { // nothing else runs in this process: memory is cheaper than collecting it all the time
			defer debug.SetGCPercent(debug.SetGCPercent(400))
		}
		o.Identity = p.id
		report, err = ingest.Import(ctx, p.Engine, p.Inspector, source, o)
		return err
	})
	if f.dryRun && s.where.empty(err) { // all of it is new
		report, err = ingest.Import(ctx, nil, nil, source, o)
	}
	return report, interrupted(ctx, err)
}

// empty reports whether an error means that nothing is stored yet where an import would go.
func (w where) empty(err error) bool {
	if w.data != "" {
		return skald.KindOf(err) == skald.KindNotFound
	}
	c, fault := w.settings()
	return err != nil && fault == nil && w.setUp(c) != nil
}

// interrupted keeps what an interrupted import says about going on; every other command says no more than that it was interrupted.
func interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return &skald.Error{Kind: skald.KindInternal, Err: fmt.Errorf("%s", err.Error())}
}

// parseDate reads a day or a moment; zero when text is "".
func parseDate(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, skald.Invalid("", flag, "%q is not a date like 2026-01-31 or 2026-01-31T08:00:00Z", text)
}

func showImport(w io.Writer, r ingest.Report) {
	imported := "imported"
	if r.DryRun {
		imported = "would be imported"
	}
	table(w, [][]string{
		{"source", r.Source},
		{"conversations", fmt.Sprint(len(r.Conversations))},
		{"messages", fmt.Sprintf("%d read, %s", r.Messages, size(r.Bytes))},
		{imported, fmt.Sprint(r.Imported)},
		{"already stored", fmt.Sprint(r.Known)},
		{"before --since", fmt.Sprint(r.LeftOut)},
		{"skipped", fmt.Sprint(r.Skipped)},
		{"took", fmt.Sprintf("%.1f s", r.Seconds)},
	})
	if len(r.Conversations) > 0 {
		fmt.Fprintln(w)
		showConversations(w, r.Conversations)
	}
	showSkips(w, r)
	switch {
	case !r.Complete:
		fmt.Fprintln(w, "\nThe limit is reached; the same command goes on.")
	case r.DryRun:
		fmt.Fprintln(w, "\nNothing was written.")
	}
}

const shownConversations = 40

func showConversations(w io.Writer, all []ingest.ConversationReport) {
	rows := [][]string{{"SESSION", "AGENT", "IMPORTED", "STORED", "SKIPPED", "FROM", "TO", "ORIGIN"}}
	for _, c := range all[:min(len(all), shownConversations)] {
		rows = append(rows, []string{c.SessionID, c.Agent, fmt.Sprint(c.Imported), fmt.Sprint(c.Known), fmt.Sprint(c.Skipped),
			day(c.From), day(c.To), c.Origin})
	}
	table(w, rows)
	if n := len(all) - shownConversations; n > 0 {
		fmt.Fprintf(w, "… and %d more; --json lists all\n", n)
	}
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateOnly)
}

const shownSkips = 10

func showSkips(w io.Writer, r ingest.Report) {
	if r.Skipped == 0 {
		return
	}
	fmt.Fprintln(w, "\nSkipped:")
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		fmt.Fprintf(w, "  %d: %s\n", r.Reasons[reason], reason)
	}
	for _, skip := range r.Skips[:min(len(r.Skips), shownSkips)] {
		fmt.Fprintf(w, "  %s: %s\n", skip.Where, skip.Reason)
	}
	if n := r.Skipped - shownSkips; n > 0 {
		fmt.Fprintf(w, "  … and %d more; --json lists them\n", n)
	}
}

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/app"
)

// man writes the man pages; packages call it.
func (s *shell) man() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the man pages into a folder", Args: arguments("DIR"), Hidden: true,
		Long: `Write a man page for every command into a folder, which is made when it is missing. The date in them is SOURCE_DATE_EPOCH, else
that of the source that was built: the same source gives the same bytes.`,
		Example: "  skald man /usr/local/share/man/man1",
		RunE: func(c *cobra.Command, args []string) error {
			pages, err := s.writeMan(c.Root(), args[0])
			if err != nil {
				return skald.Invalid("", "DIR", "%w", err)
			}
			answer := struct {
				Dir   string   `json:"dir"`
				Files []string `json:"files"`
			}{args[0], pages}
			return s.print(answer, func(w io.Writer) { fmt.Fprintf(w, "%d man pages in %s\n", len(pages), args[0]) })
		},
	}
}

func (s *shell) writeMan(root *cobra.Command, dir string) (pages []string, err error) {
	date, err := s.sourceDate()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	walk(root, func(c *cobra.Command) {
		if c.Hidden || err != nil {
			return
		}
		name := manName(c) + ".1"
		pages = append(pages, name)
		err = os.WriteFile(filepath.Join(dir, name), []byte(manPage(c, date)), 0o644)
	})
	return pages, err
}

// sourceDate is the time of the source, never that of the run.
func (s *shell) sourceDate() (time.Time, error) {
	if epoch := s.env("SOURCE_DATE_EPOCH"); epoch != "" {
		var seconds int64
		if _, err := fmt.Sscan(epoch, &seconds); err != nil {
			return time.Time{}, skald.Invalid("", "SOURCE_DATE_EPOCH", "%q is not a number of seconds", epoch)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if at, err := time.Parse(time.RFC3339, setting.Value); err == nil && setting.Key == "vcs.time" {
				return at.UTC(), nil
			}
		}
	}
	return time.Unix(0, 0).UTC(), nil
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is one page in man(7)'s language. cobra/doc would read the help texts as Markdown; ours are plain, with columns.
func manPage(c *cobra.Command, date time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q \"Skald\"\n", strings.ToUpper(manName(c)), date.Format("2006-01-02"), "Skald "+app.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	if about := strings.TrimSpace(c.Long); about != "" {
		manText(&b, "DESCRIPTION", about)
	}
	manFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if c.Example != "" {
		manText(&b, "EXAMPLES", c.Example)
	}
	if c.Runnable() {
		manText(&b, "EXIT STATUS", strings.TrimPrefix(exitHelp, "Exit codes:\n"))
	}
	manSeeAlso(&b, c)
	return b.String()
}

// manText writes paragraphs; those with indented lines stay as they are.
func manText(b *strings.Builder, title, text string) {
	fmt.Fprintf(b, ".SH %s\n", title)
	for i, p := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.Contains("\n"+p, "\n ") {
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(p))
			continue
		}
		b.WriteString(roff(p) + "\n")
	}
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR %s\n%s\n", roff(name), roff(value), roff(usage))
	})
}

func manSeeAlso(b *strings.Builder, c *cobra.Command) {
	var others []string
	if c.HasParent() {
		others = append(others, manName(c.Parent())+"(1)")
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			others = append(others, manName(sub)+"(1)")
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", roff(strings.Join(others, ", ")))
	}
}

// roff escapes what man(7) would take for its own.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

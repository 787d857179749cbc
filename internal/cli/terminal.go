package cli

import (
	"bufio"
	"io"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// colorMode is the flag --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

func (m *colorMode) String() string { return string(*m) }

// Type implements pflag.Value.
func (m *colorMode) Type() string { return "WHEN" }

// Set implements pflag.Value.
func (m *colorMode) Set(v string) error {
	if err := oneOf("color", v, string(colorAuto), string(colorAlways), string(colorNever)); err != nil {
		return err
	}
	*m = colorMode(v)
	return nil
}

// screen is what a stream of the program can show.
type screen struct {
	tty   bool
	width int // columns; 0 when unknown: lines are as long as they are
}

// lookAt finds out what a stream is.
func lookAt(stream any) screen {
	f, ok := stream.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) && !isatty.IsCygwinTerminal(f.Fd()) {
		return screen{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 80
	}
	return screen{tty: true, width: width}
}

// colored decides about colours: the flag first, then the conventions of the environment, then what the stream is.
func (s *shell) colored(on screen) bool {
	switch {
	case s.color == colorAlways:
		return true
	case s.color == colorNever, s.env("NO_COLOR") != "", s.env("CLICOLOR") == "0", s.env("TERM") == "dumb":
		return false
	}
	return on.tty
}

// interactive reports whether somebody sits there to answer questions.
func (s *shell) interactive() bool { return s.look(s.in).tty && s.look(s.err).tty && !s.json }

// plain reports whether the terminal can only take lines, or its user wants only lines.
func (s *shell) plain() bool { return s.env("TERM") == "dumb" || s.env("ACCESSIBLE") != "" }

// A style is how a terminal shows a part of the text. Nothing is said by colour alone.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// page is a stream as the human form of an answer is written to it.
type page struct {
	*bufio.Writer
	color bool
	width int // columns; 0: no end
}

func (s *shell) page(w io.Writer) *page {
	on := s.look(w)
	return &page{Writer: bufio.NewWriter(w), color: s.colored(on), width: on.width}
}

// paint gives a text a style where w shows styles.
func paint(w io.Writer, st style, text string) string {
	if p, ok := w.(*page); !ok || !p.color || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// columns is how many columns of w are free behind the first used ones, at most most; never fewer than 20.
func columns(w io.Writer, used, most int) int {
	p, ok := w.(*page)
	if !ok || p.width == 0 {
		return most
	}
	return min(max(p.width-used, 20), most)
}

// cellGap stands between two columns.
const cellGap = "  "

// table writes rows of cells in columns. On a terminal the last column is wrapped within its own edges. A first row in capitals is a
// heading.
func table(w io.Writer, rows [][]string) {
	widths := columnWidths(rows)
	indent := 0
	for _, n := range widths[:max(len(widths)-1, 0)] {
		indent += n + len(cellGap)
	}
	for i, row := range rows {
		line := tableLine(row, widths, columns(w, indent, 1<<20), indent)
		if i == 0 && heading(row) {
			line = paint(w, bold, line)
		}
		_, _ = io.WriteString(w, line+"\n")
	}
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	return widths
}

func heading(row []string) bool {
	text := strings.Join(row, "")
	return len(row) > 1 && text == strings.ToUpper(text) && strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

func tableLine(row []string, widths []int, last, indent int) string {
	var b strings.Builder
	for i, cell := range row {
		if i == len(widths)-1 {
			b.WriteString(hang(cell, last, indent))
			break
		}
		b.WriteString(cell + strings.Repeat(" ", widths[i]-lipgloss.Width(cell)) + cellGap)
	}
	return strings.TrimRight(b.String(), " ")
}

// hang wraps a text at width columns; further lines are indented.
func hang(text string, width, indent int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	return strings.ReplaceAll(lipgloss.Wrap(text, width, ""), "\n", "\n"+strings.Repeat(" ", indent))
}

// note tells on standard error what is going on, unless nobody wants to know.
func (s *shell) note(text string) {
	if !s.quiet && !s.json {
		_, _ = io.WriteString(s.err, text+"\n")
	}
}

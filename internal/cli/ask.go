package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"charm.land/huh/v2"

	"github.com/skald-engine/skald"
)

// asker puts questions to the person at the terminal. What was begun is not done when it fails.
type asker interface {
	// text asks for a line; an empty answer is value. It asks again while check fails.
	text(ctx context.Context, title, about, value string, check func(string) error) (string, error)
	// confirm asks for yes or no; an empty answer is yes when value is.
	confirm(ctx context.Context, title, about string, value bool) (bool, error)
}

// asker is the form that this terminal can show.
func (s *shell) asker() asker {
	if s.plain() {
		return &lines{in: bufio.NewReader(s.in), out: s.err}
	}
	return &forms{s}
}

// forms asks with forms that are drawn on the terminal.
type forms struct{ s *shell }

func (f *forms) text(ctx context.Context, title, about, value string, check func(string) error) (string, error) {
	field := huh.NewInput().Title(title).Description(about).Value(&value).Validate(check)
	err := f.run(ctx, field)
	return value, err
}

func (f *forms) confirm(ctx context.Context, title, about string, value bool) (bool, error) {
	field := huh.NewConfirm().Title(title).Description(about).Value(&value)
	err := f.run(ctx, field)
	return value, err
}

func (f *forms) run(ctx context.Context, field huh.Field) error {
	form := huh.NewForm(huh.NewGroup(field)).WithInput(f.s.in).WithOutput(f.s.err)
	if !f.s.colored(f.s.look(f.s.err)) {
		form = form.WithTheme(huh.ThemeFunc(huh.ThemeBase))
	}
	err := form.RunWithContext(ctx)
	if errors.Is(err, huh.ErrUserAborted) {
		return &skald.Error{Kind: skald.KindInternal, Err: errInterrupted}
	}
	return err
}

// lines asks line by line, for terminals that can do no more, and for those who have the screen read to them.
type lines struct {
	in  *bufio.Reader
	out io.Writer
}

func (l *lines) text(ctx context.Context, title, about, value string, check func(string) error) (string, error) {
	for {
		answer, err := l.line(ctx, fmt.Sprintf("%s\n  %s\n  [%s]: ", title, about, value))
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = value
		}
		if err := check(answer); err == nil {
			return answer, nil
		} else {
			fmt.Fprintf(l.out, "  %s\n", plainText(err))
		}
	}
}

func (l *lines) confirm(ctx context.Context, title, about string, value bool) (bool, error) {
	choice := "y/N"
	if value {
		choice = "Y/n"
	}
	for {
		answer, err := l.line(ctx, fmt.Sprintf("%s\n  %s\n  [%s]: ", title, about, choice))
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "":
			return value, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		fmt.Fprintln(l.out, "  answer y or n")
	}
}

func (l *lines) line(ctx context.Context, prompt string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	fmt.Fprint(l.out, prompt)
	answer, err := l.in.ReadString('\n')
	if err != nil {
		return "", &skald.Error{Kind: skald.KindInternal, Err: &hint{text: "the input ended before the last question: nothing was changed",
			fix: "run it again, or `skald init --yes` with flags"}}
	}
	return strings.TrimSpace(answer), nil
}
